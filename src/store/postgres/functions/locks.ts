/** Advisory locks, one set for each schema. Each is held until the end of its transaction, which is one statement. */

/** Orders the positions of the feed. The last lock that a transaction takes, so it is held only for the commit. */
export const FEED_LOCK = advisoryLock(7_001);
/** Makes claims wait for each other, because each depends on the tasks that run. */
export const CLAIM_LOCK = advisoryLock(7_002);

/** SQL. The table gives each schema its own lock. */
function advisoryLock(kind: number): string {
  return `pg_advisory_xact_lock(${kind}, '@feed'::regclass::oid::integer)`;
}
