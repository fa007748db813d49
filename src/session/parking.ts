/**
 * Parks a turn whose account has reached a usage limit: it waits in the log until the limit resets, even if the
 * process ends, or it fails.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { LimitReached, TurnOutcome } from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import { closingEvents } from "./end-turn.ts";
import { formatWaitTime, type TurnTimeLimits } from "./time-limits.ts";
import type { Recorder } from "./recorder.ts";

export interface ParkingOptions {
  readonly turnId: string;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly timeLimits: TurnTimeLimits;
  readonly signal: AbortSignal;
  readonly pollMs?: number | undefined;
}

/** After this many waits, the turn fails. */
const MAX_PARKS = 5;
/** Added to the reset time, because clocks of two machines differ. */
const CLOCK_SKEW_MS = 5_000;
const MAX_TIME = Date.parse("9999-01-01T00:00:00.000Z");
/** Short, because a timer does not advance while the machine sleeps. */
const CHECK_MS = 1_000;

/** Records the limit and parks the turn. Resolves with an outcome if the turn fails instead. */
export async function parkTurn(options: ParkingOptions, limit: LimitReached): Promise<TurnOutcome | undefined> {
  const { recorder, turnId, clock } = options;
  await recorder.commit();
  const resets = parseResetTime(limit.resetsAt);
  const resetsAt = Number.isNaN(resets) ? undefined : new Date(resets).toISOString();
  recorder.record([{ type: "limit.reached", message: limit.message, resetsAt }], turnId);
  const refusal = explainWhyNotParked(options, resets);
  if (refusal !== undefined)
    return { status: "failed", code: "usage_limited", message: `${limit.message}; ${refusal}` };
  const until = new Date(Math.max(resets, clock.now()) + CLOCK_SKEW_MS).toISOString();
  recorder.record(
    [...closingEvents(recorder.state, turnId, false), { type: "turn.parked", until, message: limit.message }],
    turnId,
  );
  await recorder.commit();
  return undefined;
}

/** NaN if the time is missing or outside of the years that a log can hold. */
function parseResetTime(text = ""): number {
  const at = Date.parse(text);
  return at >= 0 && at < MAX_TIME ? at : NaN;
}

/**
 * Waits until the parked turn may continue, and records that. Resolves at once if it is not parked, and with false if
 * it is cancelled.
 */
export async function waitUntilUnparked({ recorder, turnId, clock, signal, pollMs = CHECK_MS }: ParkingOptions) {
  const { parkedUntil } = recorder.state.turn ?? {};
  if (parkedUntil === undefined) return true;
  const until = Date.parse(parkedUntil);
  while (!signal.aborted && clock.now() < until) {
    await sleep(Math.min(pollMs, until - clock.now()), undefined, { signal }).catch(() => undefined);
  }
  if (signal.aborted) return false;
  recorder.record([{ type: "turn.continued", message: "the limit has passed; the turn continues" }], turnId);
  await recorder.commit();
  return true;
}

function explainWhyNotParked({ recorder, clock, timeLimits }: ParkingOptions, resets: number): string | undefined {
  const { agent, turn } = recorder.state;
  if (Number.isNaN(resets)) return "the provider did not say when the limit resets: try again later";
  const waitMs = resets - clock.now();
  const when = `the limit resets at ${new Date(resets).toISOString()}${waitMs > 0 ? `, in ${formatWaitTime(waitMs)}` : ""}`;
  const raise = `raise park_limit (now ${timeLimits.park} seconds) of agents.${agent} in rookery.toml`;
  if (timeLimits.park === 0 || waitMs > timeLimits.park * 1000) {
    return `${when}: try again then, or ${raise} so that turns wait for it`;
  }
  if (turn !== undefined && turn.parks >= MAX_PARKS) {
    return `${when}; the turn has already waited for it ${MAX_PARKS} times: try again later`;
  }
  return undefined;
}
