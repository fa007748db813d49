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

/** Undefined if the lease was released or superseded. */
export function extendLease(current: StoredLease | undefined, lease: Lease, until: number): StoredLease | undefined {
  return isCurrentLease(current, lease) ? { ...current, until } : undefined;
}

/** Throws `lease_lost` if the lease was released or superseded. */
export function requireCurrentLease(current: StoredLease | undefined, lease: Lease): void {
  if (isCurrentLease(current, lease)) return;
  throw new RookeryError(
    "lease_lost",
    `lease ${lease.generation} of session ${lease.sessionId} is no longer valid: stop writing and open the session again`,
  );
}

/** Undefined if the lease is not the current one or is already released. */
export function markLeaseReleased(current: StoredLease | undefined, lease: Lease): StoredLease | undefined {
  return isCurrentLease(current, lease) ? { ...current, released: true } : undefined;
}

function isCurrentLease(current: StoredLease | undefined, { generation }: Lease): current is StoredLease {
  return current?.generation === generation && !current.released;
}

/**
 * Pairs leases with those that a statement has renewed, by session and generation. Undefined for each that is lost.
 */
export function toRenewedLeases(
  leases: readonly Lease[],
  renewed: Iterable<Pick<Lease, "sessionId" | "generation">>,
  until: number,
): (Lease | undefined)[] {
  const generations = new Map<string, number>();
  for (const { sessionId, generation } of renewed) generations.set(sessionId, generation);
  return leases.map(({ sessionId, owner, generation }) =>
    generations.get(sessionId) === generation ? { sessionId, owner, generation, until } : undefined,
  );
}

/** Splits a list so that no statement takes long. */
export function toLeaseBatches(leases: readonly Lease[], size: number): (readonly Lease[])[] {
  const count = Math.ceil(leases.length / size);
  return Array.from({ length: count }, (_, index) => leases.slice(index * size, (index + 1) * size));
}

export function toLease(kept: StoredLease | undefined): Lease | undefined {
  if (kept === undefined || kept.released) return undefined;
  const { sessionId, owner, generation, until } = kept;
  return { sessionId, owner, generation, until };
}
