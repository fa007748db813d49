/** One turn of a live session: from its start, through the agent, to exactly one end. */
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
import type { Clock } from "../stdx/index.ts";
import { contextOf } from "./context.ts";
import { committed, endTurn } from "./ending.ts";
import { park, untilUnparked } from "./parking.ts";
import type { Patience } from "./patience.ts";
import type { Recorder } from "./recorder.ts";
import { isPassingFailure, retryStore } from "./store-retry.ts";
import { Watchdog } from "./stall/watchdog.ts";

export interface TurnOptions {
  readonly turnId: string;
  readonly recorder: Recorder;
  readonly store: SessionStore;
  readonly connection: AgentConnection;
  readonly attended: boolean;
  readonly clock: Clock;
  readonly patience: Patience;
  /** How often it is looked whether time has run out; each has its own where it is left out. */
  readonly lookMs?: number | undefined;
  /** Cancels the turn. */
  readonly signal: AbortSignal;
  /** Fires when the turn cannot go on, with the error that it fails with: the log refuses what it says, or fails. */
  readonly fault: AbortSignal;
  /** Records the start; resolves when it is durable. */
  readonly begin: () => Promise<void>;
}

/** How long an agent may take to notice that it was cancelled. */
const CANCEL_GRACE_MS = 10_000;

const CANCELLED: TurnOutcome = { status: "cancelled" };

/** The reason to give up a turn that is parked without ending it. */
export class Left extends RookeryError {
  constructor() {
    super("interrupted", "the session was left while its turn waits; whoever opens it next waits on");
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
 * Starts a turn in the log, drives it, and ends it there. Rejects with `UnrecordedEnd` if the log cannot be written,
 * or with `Left`.
 */
export async function driveTurn(options: TurnOptions): Promise<TurnOutcome> {
  const { recorder, turnId, signal, fault, begin } = options;
  try {
    await begin(); // a turn that did not start is not driven
  } catch (error) {
    throw new UnrecordedEnd(toFailedOutcome(error), error);
  }
  let outcome = await outcomeOf(options).catch(toFailedOutcome);
  if (signal.reason instanceof Left && recorder.state.turn?.parkedUntil !== undefined) throw signal.reason;
  try {
    await committed(recorder); // only now it is known whether the log holds all that the agent said
    const isRefused = fault.aborted && !isPassingFailure(fault.reason) && !signal.aborted;
    if (isRefused) outcome = toFailedOutcome(fault.reason);
    await endTurn(recorder, turnId, outcome);
  } catch (error) {
    throw new UnrecordedEnd(outcome, error);
  }
  return outcome;
}

/** Runs it, and again when a limit has passed. */
async function outcomeOf(options: TurnOptions): Promise<TurnOutcome> {
  for (;;) {
    if (!(await untilUnparked(options))) return CANCELLED;
    const end = await run(options);
    if (end.status !== "limited") return end;
    if (options.signal.aborted) return CANCELLED;
    const refused = await park(options, end);
    if (refused !== undefined) return refused;
  }
}

async function run(options: TurnOptions): Promise<TurnOutcome | LimitReached> {
  const { recorder, store, connection, turnId, signal, fault, patience, clock, lookMs } = options;
  const journal = await retryStore(() => store.journal(recorder.state.id, turnId), { signal });
  const stopping = new AbortController();
  const cancel = (): void => stopping.abort(signal.reason);
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  const { agent, tools } = recorder.state;
  using watchdog = new Watchdog({
    agent,
    patience,
    clock,
    childMarker: () => connection.childMarker,
    heard: () => connection.heard,
    tools: tools.filter((tool) => tool.turnId === turnId),
    lookMs,
  });
  const context = contextOf({ ...options, signal: stopping.signal, watchdog }, journal);
  const end = await Promise.race([
    runAgent(connection, context).catch(toFailedOutcome),
    watchdog.stalled.then(({ message }) => interrupted(stopping, message)),
    untilAborted(fault).then(() => interrupted(stopping, messageOf(fault.reason))),
    cancelledAfterGrace(signal),
  ]).finally(() => {
    context.end();
    signal.removeEventListener("abort", cancel);
  });
  if (!signal.aborted && fault.aborted) return toFailedOutcome(fault.reason);
  if (watchdog.stall === undefined) return end;
  return signal.aborted ? CANCELLED : { status: "stalled", ...watchdog.stall };
}

/** Also turns a synchronous throw into a rejection. Rejects with `agent_failed` if what the agent returns is no outcome. */
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

/** The agent's own failures are outcomes; what reaches here is a failure of the log, or a defect. */
function toFailedOutcome(error: unknown): TurnOutcome {
  return { status: "failed", code: isRookeryError(error) ? error.code : "internal", message: messageOf(error) };
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

async function cancelledAfterGrace(signal: AbortSignal): Promise<TurnOutcome> {
  await untilAborted(signal);
  await sleep(CANCEL_GRACE_MS, undefined, { ref: false });
  return CANCELLED;
}

/** It has the time that a cancelled turn has; what it says of its end then does not matter. */
async function interrupted(stopping: AbortController, why: string): Promise<TurnOutcome> {
  stopping.abort(new RookeryError("interrupted", why));
  await sleep(CANCEL_GRACE_MS, undefined, { ref: false });
  return CANCELLED;
}
