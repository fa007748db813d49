/**
 * Decides whether a lease may be taken from its holder: only if the holder is dead or frozen. The wall clock decides
 * only about holders on other machines, because it may jump and does not run while the machine sleeps.
 */
import { RookeryError, type Lease, type SessionStore } from "../domain/index.ts";
import {
  hostOfScope,
  isOwnPidScope,
  isStopped,
  judgeOwner,
  killMarked,
  ownIdentity,
  parseOwnerText,
  processesMarked,
  type Clock,
} from "../stdx/index.ts";
import { awakeTime, type LeaseTiming } from "./lease-timing.ts";

/**
 * `held`: the lease cannot be taken. `dead`: its process is gone. `frozen`: its process lives on this machine but has
 * not renewed the lease within its lifetime. `expired`: its process cannot be checked from here, and the lease has
 * expired.
 */
export type HolderState = "held" | "dead" | "frozen" | "expired";

export interface HolderQuery {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly timing: LeaseTiming;
}

/** A lease that does not change while it is observed for `ttlMs` counts as not renewed, regardless of the clock. */
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
      if (process === undefined || isThisProcess(process)) return "held"; // this process renews its own leases
      return isUnchanged || (lease.until <= clock.now() && isStopped(process)) ? "frozen" : "held";
    }
  }
}

/**
 * Kills the holder's processes on this machine, so that none of them runs at the same time as its successor. Rejects with
 * `session_in_use` if one cannot be killed.
 */
export async function endHolder(lease: Lease, state: HolderState): Promise<void> {
  const text = ownerText(lease);
  if (state === "held" || state === "expired" || parseOwnerText(text) === undefined) return;
  const left = (await killMarked(text)) === 0 ? [] : processesMarked(text).map(({ pid }) => pid);
  if (left.length > 0) {
    throw new RookeryError(
      "session_in_use",
      `processes of the previous owner of ${lease.sessionId} are still running and cannot be killed (PIDs ${left.join(", ")}): kill them, then try again`,
    );
  }
  if (state === "frozen") rememberFrozen(text, lease.until);
}

/** Names the process that holds the lease in a message, and says if it is on another machine. */
export function describeHolder(lease: Lease): string {
  const process = parseOwnerText(ownerText(lease));
  if (process === undefined) return "another process";
  if (process.scope === undefined || isOwnPidScope(process.scope)) return `process ${process.pid}`;
  const host = hostOfScope(process.scope);
  const where = host === undefined ? "on another machine or in another container" : `on host ${host}`;
  return `process ${process.pid} ${where}`;
}

function ownerText({ owner }: Lease): string {
  return owner.split("/")[0] ?? "";
}

function isThisProcess({ pid, startTime }: { readonly pid: number; readonly startTime: string }): boolean {
  const own = ownIdentity();
  return own.pid === pid && own.startTime === startTime;
}

/**
 * Frozen processes that a lease was taken from, and when that lease would have expired. Their other leases are as
 * old.
 */
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

/** Beyond this number, the lease that was seen first is forgotten and observed from the start. */
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
