/** The right to write a session: one owner at a time, taken over at once from an owner that is dead. */
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError, isRookeryError, type Lease, type SessionStore } from "../domain/index.ts";
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
 * Ends what a dead or frozen holder left running before it takes the lease from it. Rejects with `session_in_use` while
 * another process holds it.
 */
export async function takeLease(options: LeaseOptions): Promise<Lease> {
  const { store, sessionId, owner: process, clock, timing = DEFAULT_LEASE_TIMING } = options;
  taken += 1;
  const owner = `${process}/${taken}`; // one process may not open a session twice either
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
    throw current === undefined || current.generation === held?.generation ? error : sessionInUse(current, error); // it was faster
  }
}

function sessionInUse(lease: Lease, cause?: unknown): RookeryError {
  const { sessionId } = lease;
  return new RookeryError(
    "session_in_use",
    `session ${sessionId} is being driven by ${describeHolder(lease)}: wait for it, or follow it with \`rookery sessions events ${sessionId} --follow\``,
    { cause },
  );
}

/** Does a living process drive it? A turn that runs or waits in a session that nobody drives was left in the middle. */
export async function isDriven(
  store: SessionStore,
  sessionId: string,
  clock: Clock,
  timing: LeaseTiming = DEFAULT_LEASE_TIMING,
): Promise<boolean> {
  const lease = await store.currentLease(sessionId);
  return lease !== undefined && leaseState(lease, { store, clock, timing }) === "held";
}

/** One that this process could not give back has nothing running for it. */
function leaseState(lease: Lease, query: HolderQuery): HolderState {
  return isAbandonedLease(lease.owner) ? "expired" : holderState(lease, query);
}

/** A lease that cannot be given back is tried again until it expires; this process may take it over meanwhile. */
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
