/** Leases that this process could not release, or may hold without knowing it. It may take them over again. */

/** Each lease has a unique owner name. Beyond this many, the oldest are forgotten: they have expired. */
const MAX_ABANDONED = 10_000;

const abandoned = new Set<string>();

/** Call it if acquiring or releasing the lease failed, so that nobody knows whether the store still has it. */
export function abandonLease(owner: string): void {
  abandoned.add(owner);
  const [oldest] = abandoned;
  if (abandoned.size > MAX_ABANDONED && oldest !== undefined) abandoned.delete(oldest);
}

export function isAbandonedLease(owner: string): boolean {
  return abandoned.has(owner);
}
