/** Acquires and releases the right to write to a session. One owner at a time; a dead owner is replaced at once. */
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError, isRookeryError, type ErrorCode, type Lease, type SessionStore } from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import { abandonLease, isAbandonedLease } from "./abandoned-leases.ts";
import { describeHolder, endHolder, holderState, type HolderQuery, type HolderState } from "./lease-holder.ts";
import { DEFAULT_LEASE_TIMING, type LeaseTiming } from "./lease-timing.ts";
import { isTransientFailure, retryStore } from "./store-retry.ts";

const RELEASE_TIMEOUT_MS = 2_000;
const RELEASE_RETRY_MS = 2_000;
const MAX_RELEASES = 15;

export interface LeaseOptions {
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly owner: string;
  readonly clock: Clock;
  readonly timing?: LeaseTiming | undefined;
}

let taken = 0;

/**
 * Acquires the lease. Kills processes that a dead or frozen holder left running. Rejects with `session_in_use` while
 * another process holds it.
 */
export async function takeLease(options: LeaseOptions): Promise<Lease> {
  const { store, sessionId, owner: process, clock, timing = DEFAULT_LEASE_TIMING } = options;
  taken += 1;
  const owner = `${process}/${taken}`; // unique per call: a process cannot open a session twice
  const acquire = async (supersede?: number): Promise<Lease> => {
    const request = { sessionId, owner, now: clock.now(), until: clock.now() + timing.ttlMs };
    try {
      return await store.acquireLease({ ...request, ...(supersede !== undefined && { supersede }) });
    } catch (error) {
      if (!isRookeryError(error, "session_in_use")) abandonLease(owner);
      throw error;
    }
  };
  const held = await store.currentLease(sessionId);
  try {
    if (held === undefined) return await acquire();
    const state = leaseState(held, { store, clock, timing });
    if (state === "held") throw sessionInUse(held);
    await endHolder(held, state);
    return await acquire(held.generation);
  } catch (error) {
    const current = isRookeryError(error, "session_in_use") ? await store.currentLease(sessionId) : undefined;
    throw current === undefined || current.generation === held?.generation ? error : sessionInUse(current, error); // another process acquired it first
  }
}

function sessionInUse(lease: Lease, cause?: unknown): RookeryError {
  const { sessionId } = lease;
  return new RookeryError(
    "session_in_use",
    `session ${sessionId} is in use by ${describeHolder(lease)}: wait until it is released, or follow it with \`rookery sessions events ${sessionId} --follow\``,
    { cause },
  );
}

/** True if the work on a session failed because another process drives it, took it over or deleted it. */
export function isOtherProcessError(error: unknown): boolean {
  return isRookeryError(error) && OTHER_PROCESS_CODES.includes(error.code);
}

const OTHER_PROCESS_CODES: readonly ErrorCode[] = ["session_in_use", "session_not_found", "lease_lost"];

/** True if a live process drives the session. If not, a running or waiting turn was abandoned. */
export async function isDriven(
  store: SessionStore,
  sessionId: string,
  clock: Clock,
  timing: LeaseTiming = DEFAULT_LEASE_TIMING,
): Promise<boolean> {
  return isHeldLease(await store.currentLease(sessionId), { store, clock, timing });
}

/** True if a live process holds the lease, for callers that have read it. */
export function isHeldLease(lease: Lease | undefined, query: HolderQuery): boolean {
  return lease !== undefined && leaseState(lease, query) === "held";
}

/** A lease that this process failed to release counts as expired: nothing runs under it. */
function leaseState(lease: Lease, query: HolderQuery): HolderState {
  return isAbandonedLease(lease.owner) ? "expired" : holderState(lease, query);
}

/**
 * Releases a lease. If that fails, retries in the background until it expires; this process may acquire it again
 * meanwhile.
 */
export async function releaseSessionLease(store: SessionStore, lease: Lease): Promise<void> {
  try {
    await retryStore(() => store.releaseLease(lease), { patienceMs: RELEASE_TIMEOUT_MS });
  } catch (error) {
    abandonLease(lease.owner);
    if (isTransientFailure(error)) void releaseLater(store, lease);
    throw error;
  }
}

async function releaseLater(store: SessionStore, lease: Lease): Promise<void> {
  for (let tries = 0; tries < MAX_RELEASES; tries += 1) {
    await sleep(RELEASE_RETRY_MS, undefined, { ref: false });
    try {
      return await store.releaseLease(lease);
    } catch (error) {
      if (!isTransientFailure(error)) return;
    }
  }
}
