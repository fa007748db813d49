/** Who may write to a session: the rules of leases, the same for every store. */
import { RookeryError, type Lease, type LeaseRequest } from "../domain/index.ts";

/** A lease as it is kept: a released one stays, because its generation must never come again. */
export interface KeptLease extends Lease {
  readonly released: boolean;
}

export function grantLease(current: KeptLease | undefined, request: LeaseRequest): KeptLease {
  const { sessionId, owner, now, until, supersede } = request;
  const held = current !== undefined && !current.released && current.owner !== owner && current.until > now;
  if (held && supersede !== current.generation) {
    const holder = `${current.owner} until ${new Date(current.until).toISOString()}`;
    throw new RookeryError(
      "session_in_use",
      `session ${sessionId} is in use by ${holder}: close it there, or wait for its lease to end`,
    );
  }
  return { sessionId, owner, generation: (current?.generation ?? 0) + 1, until, released: false };
}

export function extendLease(current: KeptLease | undefined, lease: Lease, until: number): KeptLease {
  return { ...stillCurrent(current, lease), until };
}

/** Throws `lease_lost`. */
export function stillCurrent(current: KeptLease | undefined, lease: Lease): KeptLease {
  if (current?.generation === lease.generation && !current.released) return current;
  throw new RookeryError(
    "lease_lost",
    `lease ${lease.generation} of session ${lease.sessionId} is not current any more: stop writing and open the session again`,
  );
}

/** Undefined where there is nothing to release. */
export function endLease(current: KeptLease | undefined, lease: Lease): KeptLease | undefined {
  if (current?.generation !== lease.generation || current.released) return undefined;
  return { ...current, released: true };
}

export function leaseOf(kept: KeptLease | undefined): Lease | undefined {
  if (kept === undefined || kept.released) return undefined;
  const { sessionId, owner, generation, until } = kept;
  return { sessionId, owner, generation, until };
}
