/** Grants, renews and ends leases. The rules are in `store/lease.ts`; the database compares and sets. */
import { setTimeout as delay } from "node:timers/promises";
import { RookeryError, type Lease } from "../../domain/index.ts";
import { toLeaseBatches, toRenewedLeases, type StoredLease } from "../lease.ts";
import type { PostgresConnection } from "./connection.ts";
import { isStaleWrite, toPostgresError } from "./errors.ts";
import { fromStoredText, toStoredText } from "./stored-text.ts";

const LEASE_SQL = "select owner, generation, until, released from @lease where session_id = $1";

export async function selectLease(connection: PostgresConnection, sessionId: string): Promise<StoredLease | undefined> {
  const [row] = await connection.query(LEASE_SQL, [toStoredText(sessionId)]);
  return row && toStoredLease(sessionId, row);
}

/** The columns `owner`, `generation`, `until` and `released`. */
export function toStoredLease(sessionId: string, row: readonly unknown[]): StoredLease {
  const [owner, generation, until, released] = row as [string, number, number, boolean];
  return { sessionId, owner: fromStoredText(owner), generation, until, released };
}

/**
 * Writes the lease that `decide` returns for the current one, or none if it returns undefined. Calls `decide` again if
 * another process changes the lease meanwhile.
 */
export async function updateLease(
  connection: PostgresConnection,
  sessionId: string,
  decide: (current: StoredLease | undefined) => StoredLease | undefined,
): Promise<StoredLease | undefined> {
  return repeatWhileStale(connection.where, async () => {
    const current = await selectLease(connection, sessionId);
    const next = decide(current);
    if (next === undefined) return { done: undefined };
    const values = [
      toStoredText(sessionId),
      ...knownLeaseValues(current),
      toStoredText(next.owner),
      next.generation,
      next.until,
      next.released,
    ];
    const [row] = await connection.query(WRITE_SQL, values);
    return row?.[0] === true ? { done: next } : undefined;
  });
}

/** In the order of their ids, so that two renewals of the same leases cannot deadlock. */
const EXTEND_SQL = `
  with held as (
    select l.session_id, l.generation from unnest($1::text[], $2::bigint[]) q(id, generation), lateral (
      select session_id, generation from @lease
      where session_id = q.id and generation = q.generation and not released limit 1
    ) l
  ), locked as (
    select session_id, generation from @lease where session_id in (select session_id from held)
    order by session_id for update
  )
  update @lease l set until = $3::double precision from locked
    where l.session_id = locked.session_id and l.generation = locked.generation and not l.released
    returning l.session_id, l.generation`;

/** Leases that one statement renews. 10,000 take less than 0.1 s. */
const MAX_EXTENDED = 10_000;

/** Returns the renewed leases in the same order, and undefined for each that is lost. */
export async function extendLeases(
  connection: PostgresConnection,
  leases: readonly Lease[],
  until: number,
): Promise<(Lease | undefined)[]> {
  const renewed: (Lease | undefined)[] = [];
  for (const batch of toLeaseBatches(leases, MAX_EXTENDED)) {
    const ids = batch.map(({ sessionId }) => toStoredText(sessionId));
    const rows = await connection.query(EXTEND_SQL, [ids, batch.map(({ generation }) => generation), until]);
    const current = rows.map(([id, generation]) => {
      return { sessionId: fromStoredText(id as string), generation: generation as number };
    });
    renewed.push(...toRenewedLeases(batch, current, until));
  }
  return renewed;
}

/** The parameters with which functions check that the lease has not changed. */
export function knownLeaseValues(lease: StoredLease | undefined): readonly unknown[] {
  return [lease?.generation ?? null, lease?.until ?? null, lease?.released ?? null];
}

const WRITE_SQL = `
  select @write_lease(
    $1, $2::bigint, $3::double precision, $4::boolean, $5, $6::bigint, $7::double precision, $8::boolean
  )`;

/** Each failed attempt is the success of another process, so this many in a row mean that something is wrong. */
const MAX_ATTEMPTS = 200;

/** Repeats an attempt that returns undefined or fails because another process was faster. */
export async function repeatWhileStale<T>(
  where: string,
  attempt: () => Promise<{ readonly done: T } | undefined>,
): Promise<T> {
  for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts += 1) {
    try {
      const result = await attempt();
      if (result !== undefined) return result.done;
    } catch (error) {
      const cause = error instanceof RookeryError ? error.cause : error;
      if (!isStaleWrite(cause)) throw toPostgresError(error, where);
    }
    if (attempts > 3) await delay(Math.random() * 10); // so that processes do not collide in step
  }
  throw new RookeryError("store_locked", `other processes changed ${where} ${MAX_ATTEMPTS} times meanwhile: try again`);
}
