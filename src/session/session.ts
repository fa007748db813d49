/** A live conversation: takes prompts one at a time, and answers, cancellations and further input at any time. */
import {
  OVERLAY_ARGUMENT,
  RookeryError,
  checkArgument,
  newId,
  type Capabilities,
  type EventBody,
  type InputPart,
  type Overlay,
  type QueuedInput,
  type SessionState,
  type SessionStore,
  type SessionTools,
} from "../domain/index.ts";
import { DisposeStack, type Clock } from "../stdx/index.ts";
import { answerRequest, type Answer } from "./answer.ts";
import { toReplacementEvent, type ReplacedMessage } from "./conversation.ts";
import { openBetweenTurns, type BetweenTurns } from "./between-turns.ts";
import { changeEvents, type Changes, type Driver } from "./driver.ts";
import { closingEvents } from "./end-turn.ts";
import { expandPrompt } from "./expand-prompt.ts";
import { toInputParts, requireAttachments } from "./input.ts";
import {
  checkPromptOptions,
  checkSignalOption,
  checkText,
  checkToolChoice,
  parseChanges,
  parseQueueOptions,
} from "./parameters.ts";
import type { Turn } from "./turn-events.ts";
import type { Recorder } from "./recorder.ts";
import { Runner } from "./runner.ts";
import { SessionLeft } from "./turn.ts";

export interface SessionParts {
  readonly store: SessionStore;
  readonly recorder: Recorder;
  /** Fires when another process has the session, or may have it soon. */
  readonly lost?: AbortSignal | undefined;
  readonly driver: Driver;
  readonly attended: boolean;
  readonly clock: Clock;
  readonly lookMs?: number | undefined;
  /** Everything the session owns; closed with it. */
  readonly owned: DisposeStack;
  /** Where the reader of the first turn starts. */
  readonly shownThrough: number;
  readonly onReleased?: ((session: Session) => void) | undefined;
}

/** More than anyone means to say: whoever queues without end is told so. */
export const MAX_QUEUED_INPUTS = 1_000;

/** Steering is for the turn that runs; what follows up is a turn of its own. */
export type Deliver = QueuedInput["deliver"];

export class Session implements AsyncDisposable {
  readonly id: string;
  /** A turn that a killed process left, going on. */
  readonly resumed: Turn | undefined;
  readonly #parts: SessionParts;
  readonly #desks: BetweenTurns;
  readonly #runner: Runner;
  #release: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.id = parts.recorder.state.id;
    this.#runner = new Runner(parts);
    this.#desks = openBetweenTurns(parts);
    parts.driver.attach((agent) => this.#desks.of(agent));
    const left = this.state.turn;
    this.resumed = left === undefined ? undefined : this.#runner.resume(left);
    this.#runner.startQueued();
    if (parts.lost?.aborted === true) this.#stopAtOnce();
    else parts.lost?.addEventListener("abort", () => this.#stopAtOnce(), { once: true });
  }

  /** The fold of the log, as far as this process has seen it. */
  get state(): SessionState {
    return this.#parts.recorder.state;
  }

  /** True once it has lost its lease or its log: only a session that is opened again can go on. */
  get isBroken(): boolean {
    return this.#parts.recorder.isBroken;
  }

  /** What can be done with the agent as it is driven now. Throws `agent_unavailable` where it is lost. */
  get capabilities(): Capabilities {
    return this.#parts.driver.connection.capabilities;
  }

  /** What the agent has of Rookery's tools, and its MCP servers. Throws `agent_unavailable`, also where it has none. */
  get tools(): SessionTools {
    const { tools } = this.#parts.driver.connection;
    if (tools !== undefined) return tools;
    throw new RookeryError("agent_unavailable", `${this.state.agent} has its own tools and takes none from here`);
  }

  /**
   * Extends what the agent has, for this session and from its next turn on. It is not in the log: whoever opens the
   * session again sets it again. Throws `tool_conflict`, and changes nothing then.
   */
  setOverlay(overlay: Overlay): void {
    checkArgument(overlay, OVERLAY_ARGUMENT, "the overlay");
    this.#refuseIfClosed();
    this.#parts.driver.setOverlay(overlay);
  }

  /** Switches a tool on or off for this session, for good, and also one that is not there now. */
  async chooseTool(tool: string, enabled: boolean): Promise<void> {
    checkToolChoice({ tool, enabled });
    this.#refuseIfClosed();
    this.tools.choose(tool, enabled);
    await this.#record([{ type: "tool.chosen", tool, enabled }]);
  }

  /**
   * An input that names a prompt of an MCP server, `/server:prompt words`, becomes what the prompt says; any other stays
   * as it is. Waits for that server. Rejects with `input_invalid` where an argument is missing, or `mcp_*`.
   */
  async expand(input: string, options: { signal?: AbortSignal } = {}): Promise<string | readonly InputPart[]> {
    checkText(input, "the prompt");
    checkSignalOption(options);
    const { tools } = this.#parts.driver.connection;
    const signal = options.signal ?? new AbortController().signal;
    return tools === undefined ? input : expandPrompt(input, { tools, store: this.#parts.store, signal });
  }

  /**
   * Starts a turn, of an id that its caller knows beforehand if one is given.
   * Throws `turn_in_progress`, `session_closed`, `agent_unavailable`, `input_invalid` or `input_too_large`. If the
   * store lacks an attachment, no turn starts and the outcome rejects with `attachment_missing`.
   */
  prompt(input: string | readonly InputPart[], options: { signal?: AbortSignal; turnId?: string } = {}): Turn {
    checkPromptOptions(options);
    const parts = toInputParts(input);
    this.#refuseIfClosed();
    this.#refuseIfBusy();
    const ready = parts.some(({ type }) => type === "blob")
      ? () => requireAttachments(this.#parts.store, parts)
      : undefined;
    return this.#runner.start(parts, { ...options, ready });
  }

  /**
   * Takes an input for later: at once if idle, else when the running turn has ended. One that is to `steer` is given to
   * the running turn at its next step, where the agent can take it then. Resolves with the input's id. Rejects with
   * `turn_in_progress` where too many wait already, or with `attachment_missing`.
   */
  async queue(input: string | readonly InputPart[], options: { deliver?: Deliver } = {}): Promise<string> {
    const { deliver } = parseQueueOptions(options);
    const parts = toInputParts(input);
    this.#refuseIfClosed();
    await requireAttachments(this.#parts.store, parts);
    await this.#runner.interlude.settled("conversation"); // what is given after a new conversation belongs to it
    this.#refuseIfClosed();
    this.#refuseIfFull();
    const inputId = newId("inp", this.#parts.clock.now());
    await this.#record([{ type: "input.queued", inputId, input: parts, ...(deliver === "steer" && { deliver }) }]);
    this.#runner.startQueued();
    return inputId;
  }

  /** Ends the running turn as `cancelled` and resolves when that is recorded. */
  async cancel(): Promise<void> {
    const { turn } = this.#runner;
    this.#runner.abort(new RookeryError("interrupted", "the turn was cancelled"));
    await turn?.outcome;
    await this.#runner.settle();
  }

  /**
   * Goes on with another agent, model or folder, and records it: where a turn runs, at its end, and before an input that
   * waits. Another policy alone holds at once. Rejects with `session_closed`, with `interrupted` where another change is
   * asked for before this one was begun, and in words where it cannot be had; all is as before then.
   */
  async change(given: Changes): Promise<void> {
    const changes = parseChanges(given);
    this.#refuseIfClosed();
    const { state } = this;
    const { agent = state.agent, model = state.model, cwd = state.cwd, permissions = state.permissions } = changes;
    if (agent === state.agent && model === state.model && cwd === state.cwd) {
      if (changes.agent ?? changes.model ?? changes.cwd) this.#runner.interlude.withdraw("settings");
      return this.#record(changeEvents(state, { ...state, permissions }));
    }
    return this.#runner.interlude.want("settings", () => this.#change(changes));
  }

  /**
   * Ends a turn that runs as `cancelled`, and goes on from these messages: of what was said before, and of inputs that
   * waited, the agent hears no more, though the log keeps it. What is queued after this call waits for it. Resolves when
   * it is recorded. Rejects with `input_invalid`, `input_too_large`, `session_closed`, or as `change` does.
   */
  async replaceConversation(messages: readonly ReplacedMessage[]): Promise<void> {
    this.#refuseIfClosed();
    const replaced = toReplacementEvent(messages);
    this.#runner.abort(new RookeryError("interrupted", "the conversation was replaced by another"));
    return this.#runner.interlude.want("conversation", async () => {
      await this.#record([replaced]);
      await this.#parts.driver.forget();
    });
  }

  /** Resolves when no turn runs and no input waits for one. */
  idle(): Promise<void> {
    return this.#runner.idle();
  }

  async answer(requestId: string, answer: Answer): Promise<void> {
    await answerRequest(this.#parts.store, { sessionId: this.id, requestId, answer, clock: this.#parts.clock });
  }

  /** Ends the conversation in the log, and lets go of it. */
  async close(reason?: string): Promise<void> {
    if (reason !== undefined) checkText(reason, "the reason");
    this.#runner.end();
    this.#parts.recorder.stopRetrying();
    try {
      await this.cancel();
      if (this.state.closed) return;
      await this.#record([
        ...closingEvents(this.state, undefined, true),
        { type: "session.closed", ...(reason !== undefined && { reason }) },
      ]);
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  /** Lets go of the conversation; a turn that is parked stays so, and goes on when someone opens it again. */
  async leave(): Promise<void> {
    this.#runner.end();
    this.#parts.recorder.stopRetrying();
    const { turn } = this.#runner;
    this.#runner.abort(new SessionLeft());
    await turn?.outcome.catch(() => undefined);
    await this[Symbol.asyncDispose]();
  }

  /** Lets go of the conversation, which goes on when someone opens it again; a running turn is cancelled. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#release ??= this.#letGo()); // whoever calls it again waits for the same
  }

  /** Nothing of this session may work beside whoever has it next: its agent is not waited for, as a cancelled turn is. */
  #stopAtOnce(): void {
    this.#stopping = this.#parts.driver[Symbol.asyncDispose]().catch(() => undefined); // the rest is found by its marker
    void this[Symbol.asyncDispose]().catch(() => undefined);
  }

  async #letGo(): Promise<void> {
    this.#runner.end();
    this.#parts.recorder.stopRetrying();
    await this.cancel().catch(() => undefined); // a log that cannot be written is told to whoever waits for the turn
    await this.#runner.interlude.over();
    this.#runner[Symbol.dispose]();
    const { owned, driver, onReleased } = this.#parts;
    onReleased?.(this);
    await this.#stopping;
    owned.use(this.#desks);
    owned.use(driver); // before the lease: nobody drives the session while its agent is being ended
    await owned[Symbol.asyncDispose]();
  }

  async #change(changes: Changes): Promise<void> {
    const { driver, recorder } = this.#parts;
    const before = this.state;
    const after = await driver.change(before, changes);
    try {
      await this.#record(changeEvents(before, after));
    } catch (error) {
      if (recorder.isBroken || this.#runner.isOver) throw error; // the agent is being ended
      await recorder.catchUp().catch(() => undefined); // an append that failed may have been durable
      if (changeEvents(this.state, after).length === 0) return;
      await driver.revert(this.state);
      throw error;
    }
  }

  async #record(events: readonly EventBody[]): Promise<void> {
    const { recorder } = this.#parts;
    await recorder.write(events);
  }

  #refuseIfBusy(): void {
    const { turn, interlude } = this.#runner;
    if (turn === undefined && !interlude.isOn) return;
    const what = turn === undefined ? "a change of its settings" : `turn ${turn.id}`;
    const fix = "wait for its end, cancel it, or queue the input";
    throw new RookeryError("turn_in_progress", `session ${this.id} is busy with ${what}: ${fix}`);
  }

  #refuseIfFull(): void {
    const { length } = this.state.queue;
    if (length < MAX_QUEUED_INPUTS) return;
    const fix = "wait until it has heard some of them";
    throw new RookeryError("turn_in_progress", `${length} inputs wait in session ${this.id} already: ${fix}`);
  }

  #refuseIfClosed(): void {
    if (this.state.closed || this.#runner.isOver)
      throw new RookeryError("session_closed", `session ${this.id} is closed`);
  }
}
