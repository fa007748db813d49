/**
 * May a lease be taken from its holder? Only if the holder is dead, or nothing of it works any more. The clock of the
 * day alone decides only about holders that cannot be judged from here: it may jump, and a suspended machine sleeps.
 */
import { RookeryError, type Lease, type SessionStore } from "../domain/index.ts";
import {
  isStopped,
  judgeOwner,
  killMarked,
  ownIdentity,
  ownPidScope,
  parseOwnerText,
  processesMarked,
  type Clock,
} from "../stdx/index.ts";
import { awakeTime, type LeaseTiming } from "./lease-timing.ts";

/**
 * `held`: nobody else may have it. `dead`: its process is gone. `frozen`: its process lives on this machine and has not
 * renewed it for as long as it lasts. `expired`: its process cannot be judged from here, and its time is over.
 */
export type HolderState = "held" | "dead" | "frozen" | "expired";

export interface HolderQuery {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly timing: LeaseTiming;
}

/** Looking also counts: a lease that stays as it is while it is looked at for `ttlMs` has no holder that works. */
export function holderState(lease: Lease, { store, clock, timing }: HolderQuery): HolderState {
  const text = ownerText(lease);
  const isUnchanged = unchangedMs(store, lease, clock) >= timing.ttlMs || isKnownFrozen(lease, timing);
  switch (judgeOwner(text)) {
    case "dead":
      return "dead";
    case "unknown":
      return isUnchanged || lease.until <= clock.now() ? "expired" : "held";
    case "alive": {
      const process = parseOwnerText(text);
      if (process === undefined || isThisProcess(process)) return "held"; // this process knows what it does
      return isUnchanged || (lease.until <= clock.now() && isStopped(process)) ? "frozen" : "held";
    }
  }
}

/**
 * Ends what the holder has running on this machine, so that nothing of it works beside its successor. Rejects with
 * `session_in_use` if something cannot be ended.
 */
export async function endHolder(lease: Lease, state: HolderState): Promise<void> {
  const text = ownerText(lease);
  if (state === "held" || state === "expired" || parseOwnerText(text) === undefined) return;
  const left = (await killMarked(text)) === 0 ? [] : processesMarked(text).map(({ pid }) => pid);
  if (left.length > 0) {
    throw new RookeryError(
      "session_in_use",
      `processes of the previous holder of ${lease.sessionId} still run and cannot be ended (${left.join(", ")}): end them, then try again`,
    );
  }
  if (state === "frozen") rememberFrozen(text, lease.until);
}

/** For messages: the process that holds the lease, and where it is if that is not here. */
export function describeHolder(lease: Lease): string {
  const process = parseOwnerText(ownerText(lease));
  if (process === undefined) return "another process";
  const isHere = process.scope === undefined || process.scope === ownPidScope();
  return isHere ? `process ${process.pid}` : `process ${process.pid} of another machine or container`;
}

function ownerText({ owner }: Lease): string {
  return owner.split("/")[0] ?? "";
}

function isThisProcess({ pid, startTime }: { readonly pid: number; readonly startTime: string }): boolean {
  const own = ownIdentity();
  return own.pid === pid && own.startTime === startTime;
}

/** Processes that a lease was taken from, and until when that lease was to last: their other leases are as old. */
const frozen = new Map<string, number>();

const MAX_FROZEN = 1_000;

function rememberFrozen(owner: string, until: number): void {
  frozen.set(owner, until);
  if (frozen.size > MAX_FROZEN) frozen.delete(frozen.keys().next().value ?? owner);
}

function isKnownFrozen(lease: Lease, { renewMs }: LeaseTiming): boolean {
  const until = frozen.get(ownerText(lease));
  return until !== undefined && lease.until <= until + renewMs;
}

interface SeenLease {
  readonly generation: number;
  readonly until: number;
  readonly since: number;
}

/** Past this the one seen first is forgotten, and looked at from the beginning. */
const MAX_SEEN = 10_000;
const seenIn = new WeakMap<SessionStore, Map<string, SeenLease>>();

function unchangedMs(store: SessionStore, { sessionId, generation, until }: Lease, clock: Clock): number {
  const seen = seenIn.get(store) ?? new Map<string, SeenLease>();
  seenIn.set(store, seen);
  const now = awakeTime(clock);
  const before = seen.get(sessionId);
  if (before?.generation === generation && before.until === until && before.since <= now) return now - before.since;
  seen.delete(sessionId);
  seen.set(sessionId, { generation, until, since: now });
  if (seen.size > MAX_SEEN) seen.delete(seen.keys().next().value ?? sessionId);
  return 0;
}
