/** Reads pages of the feed. One statement per page: a follower that gets no events may continue after the head. */
import type { FeedPage, FeedText } from "../../domain/index.ts";
import { completeEventText, eventSuffix, hasSeq } from "../event-text.ts";
import { clampBytes, clampLimit } from "../page.ts";
import type { PostgresConnection } from "./connection.ts";
import { toMissingLog } from "./log-pages.ts";
import { toDamagedRow } from "./stored-json.ts";
import { fromStoredText, toStoredText } from "./stored-text.ts";

export interface FeedPageQuery {
  readonly after: number;
  readonly task?: string | undefined;
  readonly limit?: number | undefined;
  readonly maxBytes?: number | undefined;
}

/** Rejects with `task_not_found`, or `log_corrupt` if an event is damaged. */
export async function selectFeedPage(connection: PostgresConnection, query: FeedPageQuery): Promise<FeedPage> {
  const { after, task, limit, maxBytes } = query;
  const rows = await connection.query(
    task === undefined ? EVERYTHING_SQL : OF_TASK_SQL,
    [Math.max(after, 0), clampLimit(limit), clampBytes(maxBytes), ...(task === undefined ? [] : [toStoredText(task)])],
    { bytes: clampBytes(maxBytes) },
  );
  const [head, isKnown] = rows[0] ?? [];
  if (isKnown !== true) throw toMissingLog("task", task ?? "");
  return { events: rows.filter((row) => row[2] !== null).map(toFeedText), head: head as number };
}

export const LAST_POSITION_SQL = "coalesce((select through from @feed order by through desc limit 1), 0)";

function toFeedText([, , position, body, isSession, id, seq]: readonly unknown[]): FeedText {
  const [kind, logId] = [isSession === true ? "session" : "task", fromStoredText(id as string)] as const;
  if (!hasSeq(body as string, seq as number)) throw toDamagedRow(`event ${String(seq)} of ${kind} ${logId}`);
  const suffix = eventSuffix(kind, logId);
  return { position: position as number, text: completeEventText(body as string, suffix) };
}

const EVERYTHING_SQL = buildFeedSql("", "true");
const OF_TASK_SQL = buildFeedSql(
  "and f.whose = (select -no from @task where id = $4)",
  "exists (select 1 from @task where id = $4)",
);

function buildFeedSql(condition: string, isKnown: string): string {
  return `
    with page as (
      select position, body, log, seq from (
        select position, body, log, seq, row_number() over rows_so_far as count,
          sum(octet_length(body)) over rows_so_far as bytes
        from (
          select f.through - f.head + e.seq as position, e.body, f.log, e.seq from @feed f join lateral (
            select seq, body from @event where event.log = f.log
              and seq > greatest(f.head - f.events, $1::bigint - f.through + f.head) and seq <= f.head
          ) e on true
          where f.through > $1::bigint and f.events > 0 ${condition} order by f.through, e.seq limit $2::integer
        ) found window rows_so_far as (order by position)
      ) measured where bytes <= $3::bigint or count = 1
    )
    select ${LAST_POSITION_SQL}, ${isKnown}, page.position, page.body, page.log > 0, coalesce(s.id, t.id), page.seq
    from (select 1) one left join page on true
      left join @session s on s.no = page.log left join @task t on t.no = -page.log
    order by page.position`;
}
