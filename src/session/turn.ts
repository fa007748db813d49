/** Drives one turn of a live session: records its start, runs the agent, and records exactly one end. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import {
  RookeryError,
  isRookeryError,
  messageOf,
  type AgentConnection,
  type LimitReached,
  TurnOutcome,
  type SessionStore,
  type TurnContext,
} from "../domain/index.ts";
import { waitForAbort, type Clock } from "../stdx/index.ts";
import { createTurnContext } from "./turn-context.ts";
import { commitRecorded, endTurn } from "./end-turn.ts";
import { parkTurn, waitUntilUnparked } from "./parking.ts";
import type { TurnTimeLimits } from "./time-limits.ts";
import type { Recorder } from "./recorder.ts";
import { isTransientFailure, retryStore } from "./store-retry.ts";
import { Watchdog } from "./stall/watchdog.ts";

export interface TurnOptions {
  readonly turnId: string;
  readonly recorder: Recorder;
  readonly store: SessionStore;
  readonly connection: AgentConnection;
  readonly attended: boolean;
  readonly clock: Clock;
  readonly timeLimits: TurnTimeLimits;
  /** How often time limits are checked, in milliseconds. Default: 250 ms for stalls, 1 s for parked turns. */
  readonly pollMs?: number | undefined;
  /** Cancels the turn. */
  readonly signal: AbortSignal;
  /**
   * Fires when the turn cannot continue because the log refuses an event or fails. Its reason becomes the turn's
   * failure.
   */
  readonly fault: AbortSignal;
  /** Records the start, and resolves when it is durable. */
  readonly recordStart: () => Promise<void>;
  /** Called before the agent runs. If it rejects, the turn fails with that error. */
  readonly checkInput?: (() => Promise<void>) | undefined;
}

/** How long an agent may take to stop after a cancellation. */
const CANCEL_GRACE_MS = 10_000;

const CANCELLED: TurnOutcome = { status: "cancelled" };

/** The abort reason if the session is released. A parked turn does not end then. */
export class SessionReleased extends RookeryError {
  constructor() {
    super(
      "interrupted",
      "the session was released while its turn is parked; the turn continues when the session is opened again",
    );
  }
}

/** Thrown if the end of a turn could not be written yet. */
export class UnrecordedEnd extends Error {
  readonly outcome: TurnOutcome;

  constructor(outcome: TurnOutcome, cause: unknown) {
    super("the end of a turn could not be written", { cause });
    this.outcome = outcome;
  }
}

/**
 * Records the start, runs the agent and records the end. Rejects with `UnrecordedEnd` if the log cannot be written,
 * or with `SessionReleased`.
 */
export async function driveTurn(options: TurnOptions): Promise<TurnOutcome> {
  const { recorder, turnId, signal, fault, recordStart } = options;
  try {
    await recordStart(); // a turn whose start is not recorded does not run
  } catch (error) {
    throw new UnrecordedEnd(toFailedOutcome(error), error);
  }
  let outcome = await runUntilOutcome(options).catch(toFailedOutcome);
  if (signal.reason instanceof SessionReleased && recorder.state.turn?.parkedUntil !== undefined) throw signal.reason;
  try {
    await commitRecorded(recorder); // only now is it known whether the log holds all events of the agent
    const isRefused = fault.aborted && !isTransientFailure(fault.reason) && !signal.aborted;
    if (isRefused) outcome = toFailedOutcome(fault.reason);
    await endTurn(recorder, turnId, outcome);
  } catch (error) {
    throw new UnrecordedEnd(outcome, error);
  }
  return outcome;
}

/** Runs the turn, and runs it again after each usage limit that it waits for. */
async function runUntilOutcome(options: TurnOptions): Promise<TurnOutcome> {
  await options.checkInput?.();
  for (;;) {
    if (!(await waitUntilUnparked(options))) return CANCELLED;
    const end = await runOnce(options);
    if (end.status !== "limited") return end;
    if (options.signal.aborted) return CANCELLED;
    const failure = await parkTurn(options, end);
    if (failure !== undefined) return failure;
  }
}

async function runOnce(options: TurnOptions): Promise<TurnOutcome | LimitReached> {
  const { recorder, store, connection, turnId, signal, fault, timeLimits, clock, pollMs } = options;
  const journal = await retryStore(() => store.journal(recorder.state.id, turnId), { signal });
  const stopping = new AbortController();
  const cancel = (): void => stopping.abort(signal.reason);
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  const { agent, tools } = recorder.state;
  using watchdog = new Watchdog({
    agent,
    timeLimits,
    clock,
    childMarker: () => connection.childMarker,
    activityCount: () => connection.activityCount,
    tools: tools.filter((tool) => tool.turnId === turnId),
    pollMs,
  });
  const context = createTurnContext({ ...options, signal: stopping.signal, watchdog }, journal);
  const end = await Promise.race([
    runAgent(connection, context).catch(toFailedOutcome),
    watchdog.stalled.then(({ message }) => stopAgent(stopping, message)),
    waitForAbort(fault).then(() => stopAgent(stopping, messageOf(fault.reason))),
    cancelledAfterGrace(signal),
  ]).finally(() => {
    context.end();
    signal.removeEventListener("abort", cancel);
  });
  if (!signal.aborted && fault.aborted) return toFailedOutcome(fault.reason);
  if (watchdog.stall === undefined) return end;
  return signal.aborted ? CANCELLED : { status: "stalled", ...watchdog.stall };
}

/**
 * Runs the turn. Rejects with `agent_failed` if the agent returns an invalid outcome, and also if it throws
 * synchronously.
 */
async function runAgent(connection: AgentConnection, context: TurnContext): Promise<TurnOutcome | LimitReached> {
  const end: unknown = await connection.runTurn(context);
  const { data } = TurnEnd.safeParse(end);
  if (data !== undefined) return data;
  throw new RookeryError("agent_failed", "the agent ended its turn without a valid outcome");
}

const TurnEnd: z.ZodType<TurnOutcome | LimitReached> = z.lazy(() =>
  z.union([
    TurnOutcome,
    z.object({ status: z.literal("limited"), message: z.string(), resetsAt: z.string().optional() }),
  ]),
);

/** Failures of the agent are outcomes already. This handles failures of the log, and defects. */
function toFailedOutcome(error: unknown): TurnOutcome {
  return { status: "failed", code: isRookeryError(error) ? error.code : "internal", message: messageOf(error) };
}

async function cancelledAfterGrace(signal: AbortSignal): Promise<TurnOutcome> {
  await waitForAbort(signal);
  await sleep(CANCEL_GRACE_MS, undefined, { ref: false });
  return CANCELLED;
}

/** Aborts the turn and waits as for a cancelled one. Ignores the outcome that the agent then returns. */
async function stopAgent(stopping: AbortController, why: string): Promise<TurnOutcome> {
  stopping.abort(new RookeryError("interrupted", why));
  await sleep(CANCEL_GRACE_MS, undefined, { ref: false });
  return CANCELLED;
}
