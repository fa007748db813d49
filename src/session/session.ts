/** A live conversation: takes prompts one at a time, and answers, cancellations and further input at any time. */
import {
  RookeryError,
  newId,
  type AgentConnection,
  type InputPart,
  type SessionEvent,
  type SessionState,
  type SessionStore,
  type TurnOutcome,
} from "../domain/index.ts";
import { DisposeStack, type Clock } from "../stdx/index.ts";
import { answerRequest, type Answer } from "./answer.ts";
import { asInput } from "./input.ts";
import type { Recorder } from "./recorder.ts";
import { driveTurn } from "./turn.ts";

/** The events of a turn as they are committed, from its start to its end. */
export interface Turn extends AsyncIterable<SessionEvent> {
  readonly id: string;
  /** Rejects only where the log cannot be written. */
  readonly outcome: Promise<TurnOutcome>;
}

export interface SessionParts {
  readonly store: SessionStore;
  readonly recorder: Recorder;
  readonly connection: AgentConnection;
  readonly attended: boolean;
  readonly clock: Clock;
  /** Everything the session owns; closed with it. */
  readonly owned: DisposeStack;
  /** Where the reader of the first turn starts. */
  readonly shownThrough: number;
  readonly onReleased?: ((session: Session) => void) | undefined;
}

/** How often a running turn looks whether its session was closed elsewhere. */
const WATCH_MS = 250;

interface Running {
  readonly controller: AbortController;
  readonly turn: Turn;
}

export class Session implements AsyncDisposable {
  readonly id: string;
  /** A turn that a killed process left, going on. */
  readonly resumed: Turn | undefined;
  readonly #parts: SessionParts;
  #running: Running | undefined;
  #shownThrough: number;
  #letGo = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#shownThrough = parts.shownThrough;
    this.id = parts.recorder.state.id;
    parts.recorder.onForeign = () => {
      if (this.state.closed) this.#abort(new RookeryError("session_closed", "closed elsewhere"));
    };
    parts.recorder.onBroken = (failure) => this.#abort(failure);
    const left = this.state.turn;
    this.resumed = left === undefined ? undefined : this.#run(left.id, () => this.#noticeResumption(left.id));
    this.#startQueued();
  }

  /** The fold of the log, as far as this process has seen it. */
  get state(): SessionState {
    return this.#parts.recorder.state;
  }

  /** Starts a turn. Throws `turn_in_progress`, `session_closed`, `input_invalid` or `input_too_large`. */
  prompt(input: string | readonly InputPart[], options: { signal?: AbortSignal } = {}): Turn {
    const parts = asInput(input);
    this.#refuseIfClosed();
    if (this.#running !== undefined) {
      throw new RookeryError(
        "turn_in_progress",
        `session ${this.id} is busy with turn ${this.#running.turn.id}: wait for its end, cancel it, or queue the input`,
      );
    }
    return this.#start(parts, undefined, options.signal);
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

  /** Resolves when no turn runs and no input waits for one. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running.turn.outcome;
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
      this.#parts.recorder.record([{ type: "session.closed", ...(reason !== undefined && { reason }) }]);
      await this.#parts.recorder.commit();
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  /** Lets go of the conversation, which goes on when someone opens it again; a running turn is cancelled. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#letGo = true;
    await this.cancel().catch(() => undefined); // a log that cannot be written is told to whoever waits for the turn
    this.#parts.onReleased?.(this);
    await this.#parts.owned[Symbol.asyncDispose]();
  }

  #start(input: InputPart[], inputId?: string, signal?: AbortSignal): Turn {
    const turnId = newId("trn", this.#parts.clock.now());
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
    const { store, recorder, connection, attended } = this.#parts;
    const controller = new AbortController();
    const cancel = (): void => controller.abort(signal?.reason);
    if (signal?.aborted === true) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    const watch = setInterval(() => void this.#noticeClosing(), WATCH_MS);
    const drive = async (): Promise<TurnOutcome> => {
      begin();
      return driveTurn({ turnId, recorder, store, connection, attended, signal: controller.signal });
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

  #startQueued(): void {
    const next = this.state.queue[0];
    if (next === undefined || this.#running !== undefined || this.#letGo || this.state.closed) return;
    this.#start([...next.input], next.inputId);
  }

  #noticeResumption(turnId: string): void {
    const message = "the process that ran this turn ended; the turn goes on from what is recorded";
    this.#parts.recorder.record([{ type: "notice", level: "info", code: "turn_resumed", message }], turnId);
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
