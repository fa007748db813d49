/** The parts of a chat that its commands can use. */
import type { SessionSummary } from "../../domain/summary.ts";
import type { Deliver } from "../../session/method-types.ts";
import type { ExitCode } from "../exit.ts";
import type { Io } from "../io.ts";
import type { Color } from "../paint.ts";
import type { PromptSurface } from "../tui/prompt-surface.ts";
import type { ChatConnection, ChatSettings } from "./connection.ts";
import type { ChatState, CommandMark } from "./conversation/fold.ts";
import type { ChatKeys } from "./input/keys.ts";

export interface ChatHost {
  readonly io: Io;
  readonly cwd: string;
  readonly surface: PromptSurface;
  readonly keys: ChatKeys;
  readonly connection: ChatConnection;
  readonly state: ChatState;
  /** Prints lines that are not part of the conversation. */
  notice(text: string, color?: Color): void;
  /** Prints styled lines that already fit the width. */
  print(lines: readonly string[]): void;
  /** Shows a command above what it prints. */
  echo(command: string, mark?: CommandMark): void;
  fail(error: unknown): void;
  /** Changes the agent, the model or the permissions. */
  change(settings: ChatSettings): Promise<void>;
  /** Sends a prompt. It starts a turn, or is queued if one runs. */
  send(text: string, deliver?: Deliver): Promise<void>;
  /** Lets the person choose a conversation in this directory. */
  pickConversation(): Promise<SessionSummary | undefined>;
  /** Continues another session in this chat. */
  continueSession(summary: SessionSummary): Promise<void>;
  /** Leaves the conversation for an empty one with the same settings. The next prompt opens its session. */
  startNewConversation(): Promise<void>;
  quit(code?: ExitCode): void;
}
