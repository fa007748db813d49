/** Lists sessions with the filters of `ListQuery`. */
import type { ListQuery, SessionSummary } from "../../domain/index.ts";
import { endOfPrefix } from "../id-prefix.ts";
import { clampLimit } from "../page.ts";
import { isSummary } from "../stored-shapes.ts";
import { decodeJson, textColumn } from "./columns.ts";
import type { Database, Value } from "./database.ts";
import type { ReadPiece } from "./pages.ts";
import { readDecodableRows } from "./records.ts";

/**
 * Session ids sort by creation time, so the newest come first in descending order. Includes only the requested
 * conditions in the SQL, so that SQLite can use their indexes.
 */
export function listSummaries(db: Database, query: ListQuery, readPiece: ReadPiece): Promise<SessionSummary[]> {
  const { sql, values } = toListSql(query);
  return readDecodableRows(clampLimit(query.limit), {
    read: (limit) => db.all(sql, ...values, limit),
    decode: ([summary]) => decodeJson(summary, isSummary),
    readPiece,
  });
}

function toListSql({ agent, cwd, within, startedBy, idPrefix, parent, task, status, before }: ListQuery): {
  sql: string;
  values: Value[];
} {
  const conditions: string[] = [];
  const values: Value[] = [];
  const add = (condition: string, ...more: Value[]): void => {
    conditions.push(condition);
    values.push(...more);
  };
  if (status === undefined) add("status <> 'copying'");
  else add("status = ?", status);
  if (agent !== undefined) add("agent = ?", agent);
  if (cwd !== undefined) add("cwd = ?", cwd);
  if (within !== undefined) add(WITHIN, JSON.stringify(within.map((folder) => [folder, withSlash(folder)])));
  if (parent !== undefined) add("parent = ?", parent);
  if (task !== undefined) add("task = (select no from task where id = ?)", task);
  if (before !== undefined) add("id < ?", before);
  if (idPrefix !== undefined) {
    const bare = idPrefix.replace(/^ses_/, "");
    add(WITH_ID_PREFIX, `ses_${bare}`, endOfPrefix(`ses_${bare}`), idPrefix, endOfPrefix(idPrefix));
  }
  if (startedBy === "person") add(STARTED_BY_PERSON);
  const sql = `select ${textColumn("summary")} from session where ${conditions.join(" and ")} order by id desc limit ?`;
  return { sql, values };
}

const WITHIN = `exists (
  select 1 from json_each(?) as folder
  where cwd = folder.value ->> 0 or substr(cwd, 1, length(folder.value ->> 1)) = folder.value ->> 1
)`;

function withSlash(folder: string): string {
  return folder.endsWith("/") ? folder : `${folder}/`;
}

/** Two searches in two indexes, which `or` would not guarantee. */
const WITH_ID_PREFIX = `id in (
  select id from session where id >= ? and id < ?
  union select id from session where substr(substr(id, 5), -8) >= ? and substr(substr(id, 5), -8) < ?
)`;
/** A damaged summary passes, and is left out when it is decoded. */
const STARTED_BY_PERSON = `case when json_valid(summary)
  then json_extract(summary, '$.task') is null and json_extract(summary, '$.depth') is null else 1 end`;
