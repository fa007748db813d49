/** A live conversation: takes prompts one at a time, and answers, cancellations and further input at any time. */
import {
  RookeryError,
  newId,
  type Capabilities,
  type EventBody,
  type InputPart,
  type Overlay,
  type RunningTurn,
  type SessionEvent,
  type SessionState,
  type SessionStore,
  type SessionTools,
  type TurnOutcome,
} from "../domain/index.ts";
import { DisposeStack, type Clock } from "../stdx/index.ts";
import { answerRequest, type Answer } from "./answer.ts";
import { openDesk, type OwnedDesk } from "./desk.ts";
import { changeEvents, type Changes, type Driver } from "./driver.ts";
import { looseEnds } from "./ending.ts";
import { expandPrompt } from "./expand.ts";
import { asInput } from "./input.ts";
import type { Recorder } from "./recorder.ts";
import { driveTurn, Left } from "./turn.ts";

/** The events of a turn as they are committed, from its start to its end. */
export interface Turn extends AsyncIterable<SessionEvent> {
  readonly id: string;
  /** Rejects only where the log cannot be written, or the session is left while the turn is parked. */
  readonly outcome: Promise<TurnOutcome>;
}

export interface SessionParts {
  readonly store: SessionStore;
  readonly recorder: Recorder;
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

/** How often a running turn looks whether its session was closed elsewhere. */
const WATCH_MS = 250;

interface Starting {
  readonly turnId?: string;
  /** Of an input that waited. */
  readonly inputId?: string;
  readonly signal?: AbortSignal;
}

interface Running {
  readonly controller: AbortController;
  readonly turn: Turn;
}

export class Session implements AsyncDisposable {
  readonly id: string;
  /** A turn that a killed process left, going on. */
  readonly resumed: Turn | undefined;
  readonly #parts: SessionParts;
  readonly #desk: OwnedDesk;
  #running: Running | undefined;
  #shownThrough: number;
  #changing: Promise<void> | undefined;
  #letGo = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#shownThrough = parts.shownThrough;
    this.id = parts.recorder.state.id;
    parts.recorder.onForeign = () => {
      if (this.state.closed) this.#abort(new RookeryError("session_closed", "closed elsewhere"));
    };
    this.#desk = openDesk(parts);
    parts.driver.attach(this.#desk.desk);
    parts.recorder.onBroken = (failure) => this.#abort(failure);
    const left = this.state.turn;
    this.resumed = left === undefined ? undefined : this.#run(left.id, () => this.#noticeResumption(left));
    this.#startQueued();
  }

  /** The fold of the log, as far as this process has seen it. */
  get state(): SessionState {
    return this.#parts.recorder.state;
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
    this.#refuseIfClosed();
    this.#parts.driver.setOverlay(overlay);
  }

  /** Switches a tool on or off for this session, for good, and also one that is not there now. */
  async chooseTool(tool: string, enabled: boolean): Promise<void> {
    this.#refuseIfClosed();
    this.tools.choose(tool, enabled);
    await this.#record([{ type: "tool.chosen", tool, enabled }]);
  }

  /**
   * An input that names a prompt of an MCP server, `/server:prompt words`, becomes what the prompt says; any other stays
   * as it is. Waits for that server. Rejects with `input_invalid` where an argument is missing, or `mcp_*`.
   */
  async expand(input: string, options: { signal?: AbortSignal } = {}): Promise<string | readonly InputPart[]> {
    const { tools } = this.#parts.driver.connection;
    const signal = options.signal ?? new AbortController().signal;
    return tools === undefined ? input : expandPrompt(input, { tools, store: this.#parts.store, signal });
  }

  /**
   * Starts a turn, of an id that its caller knows beforehand if one is given.
   * Throws `turn_in_progress`, `session_closed`, `agent_unavailable`, `input_invalid` or `input_too_large`.
   */
  prompt(input: string | readonly InputPart[], options: { signal?: AbortSignal; turnId?: string } = {}): Turn {
    const parts = asInput(input);
    this.#refuseIfClosed();
    this.#refuseIfBusy();
    return this.#start(parts, options);
  }

  /** Takes an input for later: at once if idle, else when the running turn has ended. Resolves with the input's id. */
  async queue(input: string | readonly InputPart[]): Promise<string> {
    const parts = asInput(input);
    this.#refuseIfClosed();
    const inputId = newId("inp", this.#parts.clock.now());
    const { recorder } = this.#parts;
    recorder.record([{ type: "input.queued", inputId, input: parts }]);
    await recorder.commit();
    this.#startQueued();
    return inputId;
  }

  /** Ends the running turn as `cancelled` and resolves when that is recorded. */
  async cancel(): Promise<void> {
    const running = this.#running;
    this.#abort(new RookeryError("interrupted", "the turn was cancelled"));
    await running?.turn.outcome;
  }

  /**
   * Goes on with another agent, model or folder, between turns, or with another policy at any time, and records it.
   * Rejects with `turn_in_progress`, `session_closed`, and in words where it cannot be had; all is as before then.
   */
  async change(changes: Changes): Promise<void> {
    this.#refuseIfClosed();
    const { state } = this;
    const { agent = state.agent, model = state.model, cwd = state.cwd, permissions = state.permissions } = changes;
    if (agent === state.agent && model === state.model && cwd === state.cwd) {
      return this.#record(changeEvents(state, { ...state, permissions }));
    }
    this.#refuseIfBusy();
    this.#changing = this.#change(changes).finally(() => {
      this.#changing = undefined;
      this.#startQueued();
    });
    await this.#changing;
  }

  /** Resolves when no turn runs and no input waits for one. */
  async idle(): Promise<void> {
    for (;;) {
      if (this.#changing !== undefined) await this.#changing.catch(() => undefined);
      else if (this.#running !== undefined) await this.#running.turn.outcome;
      else return;
    }
  }

  async answer(requestId: string, answer: Answer): Promise<void> {
    await answerRequest(this.#parts.store, { sessionId: this.id, requestId, answer, clock: this.#parts.clock });
  }

  /** Ends the conversation in the log, and lets go of it. */
  async close(reason?: string): Promise<void> {
    this.#letGo = true;
    try {
      await this.cancel();
      if (this.state.closed) return;
      await this.#record([
        ...looseEnds(this.state, undefined, true),
        { type: "session.closed", ...(reason !== undefined && { reason }) },
      ]);
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  /** Lets go of the conversation; a turn that is parked stays so, and goes on when someone opens it again. */
  async leave(): Promise<void> {
    this.#letGo = true;
    const running = this.#running;
    this.#abort(new Left());
    await running?.turn.outcome.catch(() => undefined);
    await this[Symbol.asyncDispose]();
  }

  /** Lets go of the conversation, which goes on when someone opens it again; a running turn is cancelled. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#letGo = true;
    await this.cancel().catch(() => undefined); // a log that cannot be written is told to whoever waits for the turn
    await this.#changing?.catch(() => undefined);
    const { owned, driver, onReleased } = this.#parts;
    onReleased?.(this);
    owned.use(this.#desk);
    owned.use(driver); // before the lease: nobody drives the session while its agent is being ended
    await owned[Symbol.asyncDispose]();
  }

  #start(input: InputPart[], { inputId, signal, turnId = newId("trn", this.#parts.clock.now()) }: Starting = {}): Turn {
    return this.#run(
      turnId,
      () => {
        const queued = inputId !== undefined && { inputId };
        this.#parts.recorder.record([{ type: "turn.started", input, ...queued }], turnId);
      },
      signal,
    );
  }

  #run(turnId: string, begin: () => void, signal?: AbortSignal): Turn {
    const { store, recorder, attended, clock, lookMs } = this.#parts;
    const { connection, patience } = this.#parts.driver;
    const controller = new AbortController();
    const cancel = (): void => controller.abort(signal?.reason);
    if (signal?.aborted === true) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    const watch = setInterval(() => void this.#noticeClosing(), WATCH_MS);
    const drive = async (): Promise<TurnOutcome> => {
      begin();
      const how = { attended, clock, patience, lookMs, signal: controller.signal };
      return driveTurn({ turnId, recorder, store, connection, ...how });
    };
    const outcome = drive().finally(() => {
      clearInterval(watch);
      signal?.removeEventListener("abort", cancel);
      this.#running = undefined;
      this.#shownThrough = recorder.state.head;
      this.#startQueued();
    });
    outcome.catch(() => undefined); // told to whoever waits for the turn or reads its events
    const shownThrough = this.#shownThrough;
    const turn: Turn = {
      id: turnId,
      outcome,
      [Symbol.asyncIterator]: () => eventsOf(turn, store, this.id, shownThrough),
    };
    this.#running = { controller, turn };
    return turn;
  }

  #abort(reason: unknown): void {
    this.#running?.controller.abort(reason);
  }

  /** Another process may close the session while an agent says nothing, and no append would find it out. */
  async #noticeClosing(): Promise<void> {
    const { store, recorder } = this.#parts;
    const summary = await store.summary(this.id).catch(() => undefined); // whatever is wrong, the next append tells
    if (summary?.status === "closed") await recorder.catchUp().catch(() => undefined);
  }

  async #change(changes: Changes): Promise<void> {
    const before = this.state;
    await this.#record(changeEvents(before, await this.#parts.driver.change(before, changes)));
  }

  async #record(events: readonly EventBody[]): Promise<void> {
    const { recorder } = this.#parts;
    recorder.record(events);
    await recorder.commit();
  }

  #startQueued(): void {
    const next = this.state.queue[0];
    const busy = this.#running !== undefined || this.#changing !== undefined;
    if (next === undefined || busy || this.#letGo || this.state.closed || this.#parts.driver.isLost) return;
    this.#start([...next.input], { inputId: next.inputId });
  }

  #noticeResumption({ id, parkedUntil }: RunningTurn): void {
    const message =
      parkedUntil === undefined
        ? "the process that ran this turn ended; the turn goes on from what is recorded"
        : `the process that waited with this turn ended; this one waits on, until ${parkedUntil}`;
    this.#parts.recorder.record([{ type: "notice", level: "info", code: "turn_resumed", message }], id);
  }

  #refuseIfBusy(): void {
    if (this.#running === undefined && this.#changing === undefined) return;
    const what = this.#running === undefined ? "a change of its settings" : `turn ${this.#running.turn.id}`;
    const fix = "wait for its end, cancel it, or queue the input";
    throw new RookeryError("turn_in_progress", `session ${this.id} is busy with ${what}: ${fix}`);
  }

  #refuseIfClosed(): void {
    if (this.state.closed || this.#letGo) throw new RookeryError("session_closed", `session ${this.id} is closed`);
  }
}

async function* eventsOf(turn: Turn, store: SessionStore, sessionId: string, after: number) {
  const broken = new AbortController();
  turn.outcome.catch(() => broken.abort());
  for await (const event of store.follow({ sessionId, after, signal: broken.signal })) {
    yield event;
    if (event.type === "turn.ended" && event.turnId === turn.id) return;
  }
  await turn.outcome; // says why the log went silent
}
