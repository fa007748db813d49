/** Deletes sessions: at once for every reader, then their events in batches. */
import { RookeryError, type Lease } from "../../domain/index.ts";
import { toDeletionRequest } from "../admission.ts";
import { requireCurrentLease } from "../lease.ts";
import { toJson, toRequestRow } from "./append-rows.ts";
import type { PostgresConnection } from "./connection.ts";
import { isConnectionLost } from "./errors.ts";
import { toMissingLog } from "./log-pages.ts";
import { toStoredText } from "./stored-text.ts";

/** Rows that one statement deletes. */
const BATCH_ROWS = 5_000;

/** Rejects with `session_not_found` or `lease_lost`. */
export async function deleteSession(connection: PostgresConnection, lease: Lease): Promise<void> {
  const { sessionId, generation } = lease;
  const request = toDeletionRequest(sessionId);
  const requests = toJson(request === undefined ? [] : [toRequestRow(request)]);
  let isInDoubt = false;
  const [row] = await connection.retry(async () => {
    try {
      return await connection.tryQuery(DELETE_SQL, [toStoredText(sessionId), generation, requests]);
    } catch (error) {
      isInDoubt ||= isConnectionLost(error);
      throw error;
    }
  });
  if (row?.[0] === "lost") requireCurrentLease(undefined, lease); // throws
  if (row?.[0] === "missing" && !isInDoubt) throw toMissingLog("session", sessionId);
}

/** Deletes the events of deleted sessions. If it fails, the next deletion does the rest. */
export async function purgeDeleted(connection: PostgresConnection): Promise<void> {
  try {
    for (let isMore = true; isMore;) {
      const [row] = await connection.tryQuery("select @purge_deleted($1::integer)", [BATCH_ROWS]);
      isMore = row?.[0] === true;
    }
  } catch (error) {
    if (error instanceof RookeryError) throw error;
  }
}

const DELETE_SQL = "select @delete_session($1, $2::bigint, $3::json)";
