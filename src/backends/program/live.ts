/** What a backend says of the program that it drives; the rest of a backend is the same for all, see `conversation.ts`. */
import type {
  AskOptions,
  BackendContext,
  BackendKind,
  Capabilities,
  EventOf,
  LimitReached,
  PermissionDecision,
  PermissionPolicy,
  RemoteServerSpec,
  StdioServerSpec,
  TurnContext,
  TurnOutcome,
} from "../../domain/index.ts";
import type { AgentProcess } from "../../programs/index.ts";
import type { PromptPart } from "./prompt.ts";
import type { Telling, ToolStart } from "./telling.ts";

export interface Program {
  readonly kind: BackendKind;
  readonly capabilities: Capabilities;
  /**
   * Starts the program, or gets ready to start one for each turn. Rejects in words where it is missing, does not speak
   * what it should, or wants a login, and with `SessionLost` where it does not know the session that it was to go on with.
   */
  start(start: Start): Promise<LiveProgram>;
}

export interface Start {
  readonly context: BackendContext;
  /** All that the program gets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The session of the program's own that it is to go on with, or to fork. */
  readonly native: { readonly id: string; readonly as: "resume" | "fork" } | undefined;
  /** The session's policy: one that allows all may be told to the program, for then nothing is asked. */
  readonly permissions: PermissionPolicy;
  /** What it is to have of MCP servers, beside those that it knows by itself: ours is called `rookery`. */
  readonly servers: readonly ReachableServer[];
  /** The turn that runs, if one does: for what a program says or asks by itself. */
  readonly turn: () => ProgramTurn | undefined;
  /** Nobody waits for it any more: the sooner the start is given up, the sooner another can begin. */
  readonly signal: AbortSignal;
}

export type ReachableServer = StdioServerSpec | RemoteServerSpec;

export type How = Exclude<EventOf<"agent.connected">["how"], "handed_over">;

export interface LiveProgram extends AsyncDisposable {
  /** Known from the start where one process serves all turns; `ProgramTurn.started` tells of one that serves a turn. */
  readonly process?: AgentProcess | undefined;
  readonly command?: readonly string[] | undefined;
  readonly how: How;
  /** As far as it is known yet; `ProgramTurn.connected` tells it later. */
  readonly nativeId?: string | undefined;
  readonly version?: string | undefined;
  /** Where they are not those of the program as a whole. */
  readonly capabilities?: Capabilities | undefined;
  /** Was it started in a way that fits this policy? If not, the turn starts another; left out, it fits any. */
  suits?(permissions: PermissionPolicy): boolean;
  /** It has ended, or cannot be spoken to any more: the next turn starts another. */
  readonly isOver: boolean;
  /**
   * Resolves with how the turn ended. When `turn.signal` fires, the program is to be interrupted in its own way; where it
   * does not stop in time, it is disposed of by whoever called. Rejects with `SessionLost` as `start` does.
   */
  run(turn: ProgramTurn): Promise<TurnOutcome | LimitReached>;
  /** The program's own way to end, then the ladder: EOF, TERM, KILL. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** One turn as the backend of a program sees it. */
export interface ProgramTurn {
  readonly signal: AbortSignal;
  /** What to say: instructions and what went before, where the program does not know it, then what the user gave. */
  readonly prompt: readonly PromptPart[];
  readonly tell: Telling;
  readonly ask: TurnContext["ask"];
  /** To be called now and then while much is told; the program is not to be read until it resolves. */
  ready(): Promise<void>;
  /** A process was started for this turn; it is not to be used before this resolves, because it is on record then. */
  started(process: AgentProcess, command: readonly string[]): Promise<void>;
  /** What the program calls the session, when it says so. */
  connected(native: { readonly nativeId: string; readonly version?: string | undefined }): void;
  /**
   * The program asks whether it may: tells the call if it was not told, and its end where it is refused. A call of one of
   * our tools is let through, because it is decided when it arrives. Rejects when the turn is cancelled, or the program
   * has withdrawn what it asked, which a signal tells.
   */
  permit(call: ToolStart, options?: Pick<AskOptions, "signal">): Promise<PermissionDecision>;
}

/** The program does not know the session that it was to go on with. */
export class SessionLost extends Error {
  override readonly name = "SessionLost";
}
