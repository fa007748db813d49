/** Lease rules: one writer per session or task at a time. The same for every store. */
import { RookeryError, type Lease, type LeaseRequest } from "../domain/index.ts";

/** A stored lease. A released lease is kept, because its generation must never be reused. */
export interface StoredLease extends Lease {
  readonly released: boolean;
}

/** Throws `session_in_use` if another owner holds an unexpired lease and `supersede` does not name it. */
export function grantLease(current: StoredLease | undefined, request: LeaseRequest): StoredLease {
  const { sessionId, owner, now, until, supersede } = request;
  const held = current !== undefined && !current.released && current.owner !== owner && current.until > now;
  if (held && supersede !== current.generation) {
    const holder = `${current.owner} until ${new Date(current.until).toISOString()}`;
    throw new RookeryError(
      "session_in_use",
      `session ${sessionId} is in use by ${holder}: close it there, or wait for the lease to expire`,
    );
  }
  return { sessionId, owner, generation: (current?.generation ?? 0) + 1, until, released: false };
}

/** Throws `lease_lost`. */
export function extendLease(current: StoredLease | undefined, lease: Lease, until: number): StoredLease {
  return { ...requireCurrentLease(current, lease), until };
}

/** Returns the stored lease. Throws `lease_lost` if it was released or superseded. */
export function requireCurrentLease(current: StoredLease | undefined, lease: Lease): StoredLease {
  if (current?.generation === lease.generation && !current.released) return current;
  throw new RookeryError(
    "lease_lost",
    `lease ${lease.generation} of session ${lease.sessionId} is no longer valid: stop writing and open the session again`,
  );
}

/** Undefined if the lease is not the current one or is already released. */
export function markLeaseReleased(current: StoredLease | undefined, lease: Lease): StoredLease | undefined {
  if (current?.generation !== lease.generation || current.released) return undefined;
  return { ...current, released: true };
}

export function toLease(kept: StoredLease | undefined): Lease | undefined {
  if (kept === undefined || kept.released) return undefined;
  const { sessionId, owner, generation, until } = kept;
  return { sessionId, owner, generation, until };
}
