/** What becomes of a turn whose account may do no more for now: it waits in the log, whoever holds the session, or it fails. */
import { setTimeout as sleep } from "node:timers/promises";
import type { LimitReached, TurnOutcome } from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import { closingEvents } from "./end-turn.ts";
import { formatDuration, type TurnTimeLimits } from "./time-limits.ts";
import type { Recorder } from "./recorder.ts";

export interface ParkingOptions {
  readonly turnId: string;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly patience: TurnTimeLimits;
  readonly signal: AbortSignal;
  readonly lookMs?: number | undefined;
}

/** Past this the limit is not one that passes. */
const MAX_PARKS = 5;
/** Two machines rarely agree on the time. */
const CLOCK_SKEW_MS = 5_000;
const MAX_TIME = Date.parse("9999-01-01T00:00:00.000Z");
/** Short, since a timer does not go on while the machine sleeps. */
const CHECK_MS = 1_000;

/** Records the limit, and that the turn waits for its end; or resolves with how the turn ends instead. */
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

/** NaN where there is none, or one that no log has: years have four digits. */
function parseResetTime(text = ""): number {
  const at = Date.parse(text);
  return at >= 0 && at < MAX_TIME ? at : NaN;
}

/** Waits as long as the log says, if it says so, and records that the turn goes on. False where it was cancelled. */
export async function waitUntilUnparked({ recorder, turnId, clock, signal, lookMs = CHECK_MS }: ParkingOptions) {
  const { parkedUntil } = recorder.state.turn ?? {};
  if (parkedUntil === undefined) return true;
  const until = Date.parse(parkedUntil);
  while (!signal.aborted && clock.now() < until) {
    await sleep(Math.min(lookMs, until - clock.now()), undefined, { signal }).catch(() => undefined);
  }
  if (signal.aborted) return false;
  recorder.record([{ type: "turn.continued", message: "the limit has passed; the turn goes on" }], turnId);
  await recorder.commit();
  return true;
}

function explainWhyNotParked({ recorder, clock, patience }: ParkingOptions, resets: number): string | undefined {
  const { agent, turn } = recorder.state;
  if (Number.isNaN(resets)) return "it was not said when that ends: try again later";
  const waitMs = resets - clock.now();
  const when = `it ends at ${new Date(resets).toISOString()}${waitMs > 0 ? `, in ${formatDuration(waitMs)}` : ""}`;
  const raise = `raise park_limit (now ${patience.park} seconds) of agents.${agent} in rookery.toml`;
  if (patience.park === 0 || waitMs > patience.park * 1000) {
    return `${when}: try again then, or have turns wait so long for it: ${raise}`;
  }
  if (turn !== undefined && turn.parks >= MAX_PARKS) {
    return `${when}; the turn has waited for it ${MAX_PARKS} times already: try again later`;
  }
  return undefined;
}
