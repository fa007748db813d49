/** Runs the turns of a session one at a time, the work between turns, and then the queued inputs. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  RookeryError,
  isRookeryError,
  newId,
  type InputPart,
  type RunningTurn,
  type SessionStore,
  type TurnOutcome,
} from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import type { SessionAgent } from "./session-agent.ts";
import { endTurn } from "./end-turn.ts";
import { requireAttachments } from "./input.ts";
import { DeferredWork } from "./deferred-work.ts";
import { createTurnHandle, type Turn } from "./turn-handle.ts";
import type { Recorder } from "./recorder.ts";
import { isTransientFailure, retryPause } from "./store-retry.ts";
import { UnrecordedEnd, driveTurn, type TurnOptions } from "./turn.ts";
import { watchForeignEvents, type LogWatcher } from "./log-watcher.ts";

export interface RunnerParts {
  readonly store: SessionStore;
  readonly recorder: Recorder;
  readonly sessionAgent: SessionAgent;
  readonly attended: boolean;
  readonly clock: Clock;
  /** How often the time limits of a turn are checked, in milliseconds. */
  readonly pollMs?: number | undefined;
  /** The first turn's iteration starts after this `seq`. */
  readonly shownThrough: number;
}

interface StartOptions {
  readonly turnId?: string;
  /** Set if the input was queued. */
  readonly inputId?: string;
  readonly signal?: AbortSignal;
  /** Awaited before the turn is recorded. If it rejects, no turn has started. */
  readonly beforeStart?: (() => Promise<void>) | undefined;
}

/** The outcome of a turn that did not start, because its queued input was withdrawn first. */
const WITHDRAWN: TurnOutcome = { status: "cancelled" };

interface ActiveTurn {
  readonly controller: AbortController;
  readonly fault: AbortController;
  readonly turn: Turn;
}

export class Runner implements Disposable {
  readonly deferredWork: DeferredWork;
  readonly #parts: RunnerParts;
  readonly #watch: LogWatcher;
  #running: ActiveTurn | undefined;
  #shownThrough: number;
  #isEnded = false;
  /** Outcomes of turns whose start or end may be missing in the log, because the store failed for too long. */
  readonly #unsettled = new Map<string, TurnOutcome>();
  #settling: Promise<void> | undefined;
  /** How many turns in a row could not be recorded. */
  #failedTurns = 0;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#shownThrough = parts.shownThrough;
    this.deferredWork = new DeferredWork({
      isBusy: () => this.#running !== undefined || this.#isEnded,
      onFinished: () => this.#runNext(),
    });
    parts.recorder.onForeign = () => this.#handleForeignEvents();
    parts.recorder.onBroken = (failure) => this.abort(failure);
    parts.recorder.onOutage = (failure) => this.#running?.fault.abort(failure);
    parts.recorder.onRefused = (turnId, failure) => {
      if (this.#running?.turn.id === turnId) this.#running?.fault.abort(failure);
    };
    this.#watch = watchForeignEvents(parts);
  }

  /** The running turn. */
  get turn(): Turn | undefined {
    return this.#running?.turn;
  }

  /** True after `end`: nothing new starts, and waiting work was rejected. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  end(): void {
    this.#isEnded = true;
    const message = `session ${this.#parts.recorder.state.id} was released before the work could start`;
    this.deferredWork.close(new RookeryError("session_closed", message));
  }

  /** Resumes a turn that a dead process left. */
  resume(abandoned: RunningTurn): Turn {
    const turn = this.#run(abandoned.id, async () => {
      this.#recordResumption(abandoned);
      await this.#parts.recorder.commit();
    });
    if (abandoned.cancelRequested) this.abort(cancelledElsewhere()); // the process died before it could cancel it
    return turn;
  }

  start(
    input: readonly InputPart[],
    { inputId, signal, beforeStart, turnId = newId("trn", this.#parts.clock.now()) }: StartOptions = {},
  ): Turn {
    const queued = inputId !== undefined && { inputId };
    const recordStart = async (): Promise<void> => {
      await beforeStart?.();
      if (this.#unsettled.size > 0) await this.settle();
      const patient = inputId !== undefined; // no caller waits for the start of a queued input
      await this.#parts.recorder.write([{ type: "turn.started", input: [...input], ...queued }], { turnId, patient });
      this.#failedTurns = 0;
    };
    // Attachments existed when the input was queued, but may have been deleted since.
    const checkInput = inputId === undefined ? undefined : () => requireAttachments(this.#parts.store, input);
    return this.#run(turnId, recordStart, { signal, checkInput });
  }

  /** Starts the next queued input. Steering input for a turn that has ended goes first. */
  startQueued(): void {
    const { sessionAgent, recorder } = this.#parts;
    const { queue, turn, closed } = recorder.state;
    const next = queue.find(({ deliver }) => deliver === "steer") ?? queue[0];
    const isUnsettled = this.#unsettled.size > 0; // once it is settled, this is called again
    const busy = this.#running !== undefined || turn !== undefined || isUnsettled || this.deferredWork.isRunning;
    if (next === undefined || busy || this.#isEnded || recorder.isBroken || closed || sessionAgent.isLost) return;
    this.start(next.input, { inputId: next.inputId });
  }

  abort(reason: unknown): void {
    this.#running?.controller.abort(reason);
  }

  /** Resolves when no turn runs, no work between turns runs, and no input waits. */
  async idle(): Promise<void> {
    for (;;) {
      if (this.deferredWork.isRunning) await this.deferredWork.finished();
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

  #run(
    turnId: string,
    recordStart: () => Promise<void>,
    { signal, checkInput }: { readonly signal?: AbortSignal | undefined } & Pick<TurnOptions, "checkInput"> = {},
  ): Turn {
    const { store, recorder, attended, clock, pollMs } = this.#parts;
    const { connection, timeLimits } = this.#parts.sessionAgent;
    const controller = new AbortController();
    const fault = new AbortController();
    const cancel = (): void => controller.abort(signal?.reason);
    if (signal?.aborted === true) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    this.#watch.hold(true);
    const outcome = driveTurn({
      turnId,
      recorder,
      store,
      connection,
      attended,
      clock,
      timeLimits,
      pollMs,
      recordStart,
      checkInput,
      signal: controller.signal,
      fault: fault.signal,
    })
      .catch((error: unknown) => {
        if (!(error instanceof UnrecordedEnd)) throw error;
        if (isRookeryError(error.cause, "input_not_queued")) return WITHDRAWN; // the turn has not started
        if (isTransientFailure(error.cause)) this.#settleLater(turnId, error.outcome);
        throw error.cause;
      })
      .finally(() => {
        signal?.removeEventListener("abort", cancel);
        this.#watch.hold(false);
        this.#running = undefined;
        this.#shownThrough = recorder.state.head;
        this.#runNext();
      });
    const turn = createTurnHandle({ turnId, outcome, store, sessionId: recorder.state.id, after: this.#shownThrough });
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
      if (this.#isEnded || this.#parts.recorder.isBroken) return;
      await this.settle().catch(() => undefined); // callers that start something get the error
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
    if (this.#running === undefined) this.#runNext();
  }

  /** Called when something has ended: starts what waited for that. */
  #runNext(): void {
    this.deferredWork.runNext();
    this.startQueued();
  }

  /** Another process closed the session, asked to cancel the turn, or queued an input. */
  #handleForeignEvents(): void {
    const { closed, turn } = this.#parts.recorder.state;
    if (closed) this.abort(new RookeryError("session_closed", "the session was closed by another process"));
    else if (turn?.cancelRequested === true && turn.id === this.turn?.id) this.abort(cancelledElsewhere());
    else this.startQueued();
  }

  #recordResumption({ id, parkedUntil }: RunningTurn): void {
    const message =
      parkedUntil === undefined
        ? "the process that ran this turn exited; the turn resumes from the log"
        : `the process that held this parked turn exited; this process waits until ${parkedUntil}`;
    this.#parts.recorder.record([{ type: "notice", level: "info", code: "turn_resumed", message }], id);
  }
}

function cancelledElsewhere(): RookeryError {
  return new RookeryError("interrupted", "the turn was cancelled from another process");
}
