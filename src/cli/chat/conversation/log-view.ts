/** Shows the log of a session on a surface: finished blocks in the scrollback, the rest as the state of the chat. */
import type { SessionEvent } from "../../../domain/events.ts";
import type { SessionStore } from "../../../domain/store.ts";
import type { SessionSummary } from "../../../domain/summary.ts";
import { formatError } from "../../exit.ts";
import { type Io, withCommandPrefix } from "../../io.ts";
import type { Highlighter } from "../../markdown/style.ts";
import type { Color } from "../../paint.ts";
import { stripControls, toSingleLine } from "../../sanitize.ts";
import { readSessionEvents } from "../../sessions/read-events.ts";
import type { PromptSurface } from "../../tui/prompt-surface.ts";
import {
  type ChatBlock,
  chatFromSummary,
  type ChatState,
  type CommandMark,
  EMPTY_CHAT,
  foldChatEvent,
} from "./fold.ts";
import { readLogTail } from "./tail.ts";
import { type ChatStyle, renderChatBlock } from "./view.ts";

export interface ChatLogViewOptions {
  readonly io: Io;
  readonly surface: PromptSurface;
  /** Called after each event. */
  readonly onEvent: (event: SessionEvent, before: ChatState) => void;
}

export class ChatLogView {
  readonly #options: ChatLogViewOptions;
  readonly #surface: PromptSurface;
  #state: ChatState = EMPTY_CHAT;
  #lastBlock: ChatBlock["type"] | undefined;
  #following: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  highlight: Highlighter | undefined;

  constructor(options: ChatLogViewOptions) {
    this.#options = options;
    this.#surface = options.surface;
  }

  get state(): ChatState {
    return this.#state;
  }

  get style(): ChatStyle {
    const { size, paint } = this.#surface;
    return { width: size.columns, paint, highlight: this.highlight, outputHint: "/output shows all" };
  }

  /** For settings of a session that does not exist yet. */
  setState(changes: Partial<ChatState>): void {
    this.#state = { ...this.#state, ...changes };
    this.#surface.refresh();
  }

  /** For a conversation that has no session yet. What was printed stays. */
  reset(changes: Partial<ChatState>): void {
    this.#state = EMPTY_CHAT;
    this.setState(changes);
  }

  /** Prints lines that are not part of the conversation. */
  notice(text: string, color?: Color): void {
    const lines = withCommandPrefix(this.#options.io, stripControls(text)).split("\n");
    const { paint } = this.#surface;
    this.#printBlock({
      type: "lines",
      text: lines.map((line) => (color === undefined ? line : paint(color, line))).join("\n"),
    });
  }

  /** Shows a command of the chat above what it prints. */
  echo(command: string, mark: CommandMark = "❯"): void {
    this.#printBlock({ type: "command", text: command, mark });
  }

  fail(error: unknown): void {
    const line = withCommandPrefix(this.#options.io, toSingleLine(formatError(error)));
    this.#printBlock({ type: "lines", text: `${this.#surface.paint("red", "!")} ${line}` });
  }

  /** Prints lines that already fit the width. */
  print(lines: readonly string[]): void {
    this.#surface.print(lines);
    this.#lastBlock = "lines";
  }

  /** Like `print`, with an empty line above. */
  printApart(lines: readonly string[]): void {
    this.print([...(this.#lastBlock === undefined ? [] : [""]), ...lines]);
  }

  /** Shows the last part of a session, and then every new event. */
  async open(store: SessionStore, summary: SessionSummary): Promise<void> {
    const { events, isPartial } = await readLogTail(store, summary.id);
    this.#state = chatFromSummary(summary);
    if (isPartial) this.notice(`earlier messages: rookery sessions show ${summary.id}`, "dim");
    for (const event of events) this.#apply(event);
    if (summary.usage !== undefined) this.#state = { ...this.#state, usage: summary.usage }; // the tail has only a part of it
    this.follow(store, summary.id, events.at(-1)?.seq ?? 0);
  }

  follow(store: SessionStore, sessionId: string, after: number): void {
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const event of store.follow({ sessionId, after, signal: stop.signal })) this.#apply(event);
    };
    const ended = follow().catch((error: unknown) => {
      if (!stop.signal.aborted) this.fail(error);
    });
    this.#following = { stop, ended };
  }

  /** Shows what was recorded until now, and stops. */
  async close(store: SessionStore, sessionId: string): Promise<void> {
    this.#following?.stop.abort();
    await this.#following?.ended;
    this.#following = undefined;
    for await (const event of readSessionEvents(store, sessionId, this.#state.head)) this.#apply(event);
  }

  #apply(event: SessionEvent): void {
    const before = this.#state;
    if (event.seq <= before.head) return;
    const { state, blocks } = foldChatEvent(before, event, this.#surface.paint, this.style.width);
    this.#state = state;
    for (const block of blocks) this.#printBlock(block);
    this.#options.onEvent(event, before);
    this.#surface.refresh();
  }

  #printBlock(block: ChatBlock): void {
    this.#surface.print(renderChatBlock(block, this.#lastBlock, this.style));
    this.#lastBlock = block.type;
  }
}
