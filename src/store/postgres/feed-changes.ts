/** Reads which logs have grown and which sessions were deleted, in one statement and in order of their commits. */
import type { LogGrowth } from "../log-watches.ts";
import type { PostgresConnection } from "./connection.ts";
import { LAST_POSITION_SQL } from "./feed-pages.ts";
import { fromStoredText } from "./stored-text.ts";

export interface FeedEnd {
  /** The last position of the feed. */
  readonly position: number;
  /** The number of the last deletion. */
  readonly deletion: number;
}

export interface FeedChanges {
  readonly logs: readonly LogGrowth[];
  /** The ids of deleted sessions. */
  readonly deleted: readonly string[];
  readonly end: FeedEnd;
  /** True if some deletions are not known anymore. */
  readonly isGap: boolean;
}

export async function readFeedEnd(connection: PostgresConnection): Promise<FeedEnd> {
  const [row] = await connection.query(END_SQL);
  const [position, deletion] = (row ?? [0, 0]) as [number, number];
  return { position, deletion };
}

export async function readChangesAfter(connection: PostgresConnection, seen: FeedEnd): Promise<FeedChanges> {
  const rows = await connection.query(CHANGES_SQL, [seen.position, seen.deletion]);
  const logs: LogGrowth[] = [];
  const deleted: string[] = [];
  let { position, deletion } = seen;
  let deletions = 0;
  for (const [log, id, head, at] of rows as unknown as [number | null, string | null, number, number][]) {
    if (log === null) {
      deleted.push(fromStoredText(id ?? ""));
      deletion = Math.max(deletion, at);
      deletions += 1;
    } else {
      position = Math.max(position, at);
      if (id !== null) logs.push({ kind: log > 0 ? "session" : "task", id: fromStoredText(id), head });
    }
  }
  return { logs, deleted, end: { position, deletion }, isGap: deletions < deletion - seen.deletion };
}

const END_SQL = `select ${LAST_POSITION_SQL}, coalesce((select max(no) from @deletion), 0)`;
/** Deleted logs, and the entry that keeps the last position, have no id. */
const CHANGES_SQL = `
  select grown.log, coalesce(s.id, t.id), grown.head, grown.through from (
    select log, max(head) as head, max(through) as through from @feed where through > $1::bigint group by log
  ) grown left join @session s on s.no = grown.log left join @task t on t.no = -grown.log
  union all
  select null, session_id, null, no from @deletion where no > $2::bigint`;
