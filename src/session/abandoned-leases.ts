/** Leases of this process that it could not give back, or may hold without knowing: this process may take them over. */

/** Of each lease that is taken the owner's name is unique. Past this many the oldest are forgotten: they have expired. */
const MAX_ABANDONED = 10_000;

const abandoned = new Set<string>();

/** Call it if taking or releasing the lease failed: whether the store has it is unknown then. */
export function abandonLease(owner: string): void {
  abandoned.add(owner);
  const [oldest] = abandoned;
  if (abandoned.size > MAX_ABANDONED && oldest !== undefined) abandoned.delete(oldest);
}

export function isAbandonedLease(owner: string): boolean {
  return abandoned.has(owner);
}
