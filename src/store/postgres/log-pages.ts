/** Reads pages of logs. One statement per page, so head and events are of the same snapshot. */
import {
  RookeryError,
  type EventPage,
  type EventText,
  type ReadQuery,
  type SessionEvent,
  type TaskEvent,
  type TaskRead,
} from "../../domain/index.ts";
import { nextLoopSlice } from "../../stdx/index.ts";
import type { LogKind } from "../admission.ts";
import { completeEventText, eventSuffix, hasSeq } from "../event-text.ts";
import { clampBytes, clampLimit } from "../page.ts";
import type { PostgresConnection } from "./connection.ts";
import { parseStored, toDamagedRow } from "./stored-json.ts";
import { toStoredText } from "./stored-text.ts";

/** How much is parsed without yielding to other work. Takes about 2 ms. */
const MAX_SLICE_CHARACTERS = 256 * 1024;

export async function selectSessionPage(connection: PostgresConnection, query: ReadQuery): Promise<EventPage> {
  const { texts, head } = await selectTexts(connection, "session", query.sessionId, query);
  const events = await parseTexts<SessionEvent>(texts, `session ${query.sessionId}`);
  return { events: query.order === "newest_first" ? events.reverse() : events, head };
}

export async function selectTaskPage(
  connection: PostgresConnection,
  query: TaskRead,
): Promise<{ events: TaskEvent[]; head: number }> {
  const { texts, head } = await selectTexts(connection, "task", query.taskId, query);
  return { events: await parseTexts<TaskEvent>(texts, `task ${query.taskId}`), head };
}

/** Oldest first. Rejects with `session_not_found` or `task_not_found`, or `log_corrupt` if an event is damaged. */
export async function selectTexts(
  connection: PostgresConnection,
  kind: LogKind,
  id: string,
  query: Omit<ReadQuery, "sessionId">,
): Promise<{ texts: EventText[]; head: number }> {
  const rows = await connection.query(
    TEXTS_SQL[kind][query.order === "newest_first" ? "desc" : "asc"],
    [
      toStoredText(id),
      Math.max(query.after ?? 0, 0),
      Math.min(query.before ?? Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
      clampLimit(query.limit),
      clampBytes(query.maxBytes),
    ],
    { bytes: clampBytes(query.maxBytes) },
  );
  const [first] = rows;
  if (first === undefined) throw toMissingLog(kind, id);
  const suffix = eventSuffix(kind, id);
  const toText = (seq: number, body: string): EventText => {
    if (!hasSeq(body, seq)) throw toDamagedRow(`event ${seq} of ${kind} ${id}`);
    return { seq, text: completeEventText(body, suffix) };
  };
  const texts = rows.filter(([, seq]) => seq !== null).map(([, seq, body]) => toText(seq as number, body as string));
  return { texts, head: first[0] as number };
}

/** Undefined if the log does not exist. */
export async function selectHead(
  connection: PostgresConnection,
  kind: LogKind,
  id: string,
): Promise<number | undefined> {
  const [row] = await connection.query(`select head from @${kind} where id = $1`, [toStoredText(id)]);
  return row?.[0] as number | undefined;
}

export function toMissingLog(kind: LogKind, id: string): RookeryError {
  return new RookeryError(`${kind}_not_found`, `no ${kind} ${id}: list ${kind}s to find its id`);
}

/** Measures bodies without reading those that are stored apart from their row. */
function buildTextsSql(kind: LogKind, direction: "asc" | "desc"): string {
  const log = kind === "session" ? "s.no" : "-s.no";
  return `
    select s.head, e.seq, e.body from @${kind} s left join lateral (
      select seq, body from (
        select seq, body, row_number() over rows_so_far as count, sum(octet_length(body)) over rows_so_far as bytes from (
          select seq, body from @event where log = ${log} and seq > $2::bigint and seq < $3::bigint
          order by seq ${direction} limit $4::integer
        ) page window rows_so_far as (order by seq ${direction})
      ) measured where bytes <= $5::bigint or count = 1
    ) e on true where s.id = $1 order by e.seq`;
}

const TEXTS_SQL: Record<LogKind, Record<"asc" | "desc", string>> = {
  session: { asc: buildTextsSql("session", "asc"), desc: buildTextsSql("session", "desc") },
  task: { asc: buildTextsSql("task", "asc"), desc: buildTextsSql("task", "desc") },
};

/** Lets other work run between slices of a large page. */
async function parseTexts<Event>(texts: readonly EventText[], log: string): Promise<Event[]> {
  const events: Event[] = [];
  let characters = 0;
  for (const { seq, text } of texts) {
    characters += text.length;
    if (characters > MAX_SLICE_CHARACTERS) {
      characters = 0;
      const slice = nextLoopSlice();
      if (slice !== undefined) await slice;
    }
    events.push(parseStored(text, `event ${seq} of ${log}`) as Event);
  }
  return events;
}
