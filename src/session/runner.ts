/** What runs in a session: one turn at a time, what was asked for between two of them, and then the inputs that wait. */
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError, newId, type InputPart, type RunningTurn, type TurnOutcome } from "../domain/index.ts";
import { endTurn } from "./end-turn.ts";
import { DeferredWork } from "./deferred-work.ts";
import { createTurn, type Turn } from "./turn-events.ts";
import type { SessionParts } from "./session.ts";
import { isTransientFailure, retryPause } from "./store-retry.ts";
import { UnrecordedEnd, driveTurn } from "./turn.ts";
import { watchForeignEvents, type LogWatcher } from "./log-watcher.ts";

interface StartOptions {
  readonly turnId?: string;
  /** Of an input that waited. */
  readonly inputId?: string;
  readonly signal?: AbortSignal;
  /** Awaited before the turn is in the log: if it rejects, no turn has started. */
  readonly ready?: (() => Promise<void>) | undefined;
}

interface ActiveTurn {
  readonly controller: AbortController;
  readonly fault: AbortController;
  readonly turn: Turn;
}

export class Runner implements Disposable {
  readonly interlude: DeferredWork;
  readonly #parts: SessionParts;
  readonly #watch: LogWatcher;
  #running: ActiveTurn | undefined;
  #shownThrough: number;
  #isOver = false;
  /** Outcomes of turns whose start or end may be missing in the log, because the store failed for too long. */
  readonly #unsettled = new Map<string, TurnOutcome>();
  #settling: Promise<void> | undefined;
  /** How many turns in a row could not be recorded. */
  #failedTurns = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#shownThrough = parts.shownThrough;
    this.interlude = new DeferredWork({
      isBusy: () => this.#running !== undefined || this.#isOver,
      onOver: () => this.#goOn(),
    });
    parts.recorder.onForeign = () => this.#noticeOthers();
    parts.recorder.onBroken = (failure) => this.abort(failure);
    parts.recorder.onOutage = (failure) => this.#running?.fault.abort(failure);
    parts.recorder.onRefused = (turnId, failure) => {
      if (this.#running?.turn.id === turnId) this.#running?.fault.abort(failure);
    };
    this.#watch = watchForeignEvents({ ...parts, everyMs: parts.lookMs });
  }

  /** The turn that runs, if one does. */
  get turn(): Turn | undefined {
    return this.#running?.turn;
  }

  /** Nothing is begun from here on; what was asked for and has not begun is told so. */
  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    const what = `session ${this.#parts.recorder.state.id} was let go of before that could be done`;
    this.interlude.end(new RookeryError("session_closed", what));
  }

  /** Goes on with a turn that a killed process left. */
  resume(left: RunningTurn): Turn {
    return this.#run(left.id, async () => {
      this.#noticeResumption(left);
      await this.#parts.recorder.commit();
    });
  }

  start(
    input: readonly InputPart[],
    { inputId, signal, ready, turnId = newId("trn", this.#parts.clock.now()) }: StartOptions = {},
  ): Turn {
    const queued = inputId !== undefined && { inputId };
    const begin = async (): Promise<void> => {
      if (ready !== undefined) await ready();
      if (this.#unsettled.size > 0) await this.settle();
      // Nobody waits for the start of a queued input, so a failure that passes only delays it.
      const how = { turnId, patient: inputId !== undefined };
      await this.#parts.recorder.write([{ type: "turn.started", input: [...input], ...queued }], how);
      this.#failedTurns = 0;
    };
    return this.#run(turnId, begin, signal);
  }

  /** What was to steer a turn that has ended goes first: it was wanted sooner than what was to follow. */
  startQueued(): void {
    const { driver, recorder } = this.#parts;
    const { queue, turn, closed } = recorder.state;
    const next = queue.find(({ deliver }) => deliver === "steer") ?? queue[0];
    const isUnsettled = this.#unsettled.size > 0; // once it is settled, this is called again
    const busy = this.#running !== undefined || turn !== undefined || isUnsettled || this.interlude.isOn;
    if (next === undefined || busy || this.#isOver || recorder.isBroken || closed || driver.isLost) return;
    this.start(next.input, { inputId: next.inputId });
  }

  abort(reason: unknown): void {
    this.#running?.controller.abort(reason);
  }

  /** Resolves when no turn runs, nothing is done between turns, and no input waits. */
  async idle(): Promise<void> {
    for (;;) {
      if (this.interlude.isOn) await this.interlude.over();
      else if (this.#running !== undefined) await this.#running.turn.outcome;
      else return;
    }
  }

  /** Records the end of turns that could not be recorded before. Rejects if the log still cannot be written. */
  async settle(): Promise<void> {
    while (this.#unsettled.size > 0) await (this.#settling ??= this.#settleOnce());
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
  }

  #run(turnId: string, begin: () => Promise<void>, signal?: AbortSignal): Turn {
    const { store, recorder, attended, clock, lookMs } = this.#parts;
    const { connection, patience } = this.#parts.driver;
    const controller = new AbortController();
    const fault = new AbortController();
    const cancel = (): void => controller.abort(signal?.reason);
    if (signal?.aborted === true) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    this.#watch.hold(true);
    const how = { attended, clock, patience, lookMs, begin, signal: controller.signal, fault: fault.signal };
    const outcome = driveTurn({ turnId, recorder, store, connection, ...how })
      .catch((error: unknown) => {
        if (!(error instanceof UnrecordedEnd)) throw error;
        if (isTransientFailure(error.cause)) this.#settleLater(turnId, error.outcome);
        throw error.cause;
      })
      .finally(() => {
        signal?.removeEventListener("abort", cancel);
        this.#watch.hold(false);
        this.#running = undefined;
        this.#shownThrough = recorder.state.head;
        this.#goOn();
      });
    const turn = createTurn({ turnId, outcome, store, sessionId: recorder.state.id, after: this.#shownThrough });
    this.#running = { controller, fault, turn };
    return turn;
  }

  #settleLater(turnId: string, outcome: TurnOutcome): void {
    const isFirst = this.#unsettled.size === 0;
    this.#unsettled.set(turnId, outcome);
    this.#failedTurns += 1;
    if (isFirst) void this.#settleInBackground();
  }

  /** Pauses before each attempt: the next queued input starts when one succeeds, and may fail at once again. */
  async #settleInBackground(): Promise<void> {
    for (let attempt = this.#failedTurns - 1; this.#unsettled.size > 0; attempt += 1) {
      await sleep(retryPause(attempt), undefined, { ref: false });
      if (this.#isOver || this.#parts.recorder.isBroken) return;
      await this.settle().catch(() => undefined); // those who want to begin something hear of it
    }
  }

  async #settleOnce(): Promise<void> {
    const { recorder } = this.#parts;
    try {
      await recorder.catchUp(); // a failed append may be durable
      const { turn } = recorder.state;
      const outcome = turn && this.#unsettled.get(turn.id);
      if (turn !== undefined && outcome !== undefined) await endTurn(recorder, turn.id, outcome);
      this.#unsettled.clear();
    } finally {
      this.#settling = undefined;
    }
    if (this.#running === undefined) this.#goOn();
  }

  /** Something has ended: what waited for that begins. */
  #goOn(): void {
    this.interlude.begin();
    this.startQueued();
  }

  /** Another process may close the session, or have an input for it. */
  #noticeOthers(): void {
    if (this.#parts.recorder.state.closed) this.abort(new RookeryError("session_closed", "closed elsewhere"));
    else this.startQueued();
  }

  #noticeResumption({ id, parkedUntil }: RunningTurn): void {
    const message =
      parkedUntil === undefined
        ? "the process that ran this turn ended; the turn goes on from what is recorded"
        : `the process that waited with this turn ended; this one waits on, until ${parkedUntil}`;
    this.#parts.recorder.record([{ type: "notice", level: "info", code: "turn_resumed", message }], id);
  }
}
