/** The right to write a session: one owner at a time, taken over at once from an owner that is dead. */
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError, isRookeryError, type Lease, type SessionStore } from "../domain/index.ts";
import { isDeadOwner, type Clock } from "../stdx/index.ts";
import { abandonLease, isAbandonedLease } from "./abandoned-leases.ts";
import { isPassingFailure, retryStore } from "./store-retry.ts";

const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
const RELEASE_PATIENCE_MS = 2_000;
const MAX_RELEASES = 15;

export interface LeaseOptions {
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly owner: string;
  readonly clock: Clock;
}

let taken = 0;

/** Rejects with `session_in_use` while a living process holds it. */
export async function takeLease({ store, sessionId, owner: process, clock }: LeaseOptions): Promise<Lease> {
  taken += 1;
  const owner = `${process}/${taken}`; // one process may not open a session twice either
  const request = () => ({ sessionId, owner, now: clock.now(), until: clock.now() + LEASE_MS });
  const acquire = async (supersede?: number): Promise<Lease> => {
    try {
      return await store.acquireLease({ ...request(), ...(supersede !== undefined && { supersede }) });
    } catch (error) {
      if (!isRookeryError(error, "session_in_use")) abandonLease(owner);
      throw error;
    }
  };
  try {
    return await acquire();
  } catch (error) {
    if (!isRookeryError(error, "session_in_use")) throw error;
    const held = await store.currentLease(sessionId);
    if (held === undefined) return acquire();
    const holder = held.owner.split("/")[0] ?? "";
    if (isDeadOwner(holder) || isAbandonedLease(held.owner)) return acquire(held.generation);
    const pid = holder.split(".")[0] ?? "unknown";
    throw new RookeryError(
      "session_in_use",
      `session ${sessionId} is being driven by process ${pid}: wait for it, or follow it with \`rookery sessions events ${sessionId} --follow\``,
      { cause: error },
    );
  }
}

/** Does a living process drive it? A turn that runs or waits in a session that nobody drives was left in the middle. */
export async function isDriven(store: SessionStore, sessionId: string, clock: Clock): Promise<boolean> {
  const lease = await store.currentLease(sessionId);
  if (lease === undefined || lease.until <= clock.now() || isAbandonedLease(lease.owner)) return false;
  return !isDeadOwner(lease.owner.split("/")[0] ?? "");
}

/** Renews until it is disposed, which gives the lease back; `onLost` is called once, when someone else has it. */
export function keepLease(options: LeaseOptions, taken: Lease, onLost: (error: unknown) => void): AsyncDisposable {
  const { store, clock } = options;
  let lease = taken;
  let renewing = Promise.resolve();
  const timer = setInterval(() => {
    renewing = store.renewLease(lease, clock.now() + LEASE_MS).then(
      (renewed) => {
        lease = renewed;
      },
      (error: unknown) => {
        if (!isRookeryError(error, "lease_lost")) return; // a full disk now may have room at the next renewal
        clearInterval(timer);
        onLost(error);
      },
    );
  }, RENEW_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await renewing;
      await giveBackLease(store, lease);
    },
  };
}

/** A lease that cannot be given back is tried again until it expires; this process may take it over meanwhile. */
export async function giveBackLease(store: SessionStore, lease: Lease): Promise<void> {
  try {
    await retryStore(() => store.releaseLease(lease), { patienceMs: RELEASE_PATIENCE_MS });
  } catch (error) {
    abandonLease(lease.owner);
    if (isPassingFailure(error)) void releaseLater(store, lease);
    throw error;
  }
}

async function releaseLater(store: SessionStore, lease: Lease): Promise<void> {
  for (let tries = 0; tries < MAX_RELEASES; tries += 1) {
    await sleep(LEASE_MS / MAX_RELEASES, undefined, { ref: false });
    try {
      return await store.releaseLease(lease);
    } catch (error) {
      if (!isPassingFailure(error)) return;
    }
  }
}
