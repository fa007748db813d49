/** Lists sessions with the filters of `ListQuery`, and counts them. */
import type { ListQuery, SessionStatus, SessionSummary } from "../../domain/index.ts";
import { endOfPrefix } from "../id-prefix.ts";
import { clampLimit } from "../page.ts";
import { isSummary } from "../stored-shapes.ts";
import { ZERO_SESSION_COUNTS } from "../task-facts.ts";
import type { PostgresConnection } from "./connection.ts";
import { Conditions } from "./conditions.ts";
import { parseSummary, selectParsable } from "./stored-json.ts";
import { toStoredText } from "./stored-text.ts";
import { toCounts } from "./task-lists.ts";

/** Session ids sort by creation time, so the newest come first in descending order. */
export async function selectSummaries(connection: PostgresConnection, query: ListQuery): Promise<SessionSummary[]> {
  const where = toConditions(query);
  const sql = `select summary from @session where ${where.sql} order by id desc limit $${where.values.length + 1}::integer`;
  const read = (limit: number) => connection.query(sql, [...where.values, limit]);
  return selectParsable(clampLimit(query.limit), read, isSummary);
}

export async function selectSummary(
  connection: PostgresConnection,
  sessionId: string,
): Promise<SessionSummary | undefined> {
  const [row] = await connection.query("select summary from @session where id = $1", [toStoredText(sessionId)]);
  return row && parseSummary(row[0] as string, sessionId);
}

export async function selectSessionCounts(connection: PostgresConnection): Promise<Record<SessionStatus, number>> {
  const rows = await connection.query("select status, count(*) from @session group by status");
  return toCounts(rows, ZERO_SESSION_COUNTS);
}

function toConditions(query: ListQuery): Conditions {
  const { agent, cwd, within, startedBy, idPrefix, parent, task, status, before } = query;
  const where = new Conditions();
  if (status === undefined) where.add(() => "status <> 'copying'");
  else where.add((value) => `status = ${value(status)}`);
  if (agent !== undefined) where.add((value) => `agent = ${value(toStoredText(agent))}`);
  if (cwd !== undefined) where.add((value) => `cwd = ${value(toStoredText(cwd))}`);
  if (within !== undefined) {
    const folders = within.map((folder) => folder.replace(/\/$/, ""));
    where.add(
      (value) => `exists (
        select 1 from unnest(${value(within.map(toStoredText))}::text[], ${value(folders)}::text[]) f(folder, prefix)
        where cwd = folder or starts_with(cwd, prefix || '/')
      )`,
    );
  }
  if (parent !== undefined) where.add((value) => `parent = ${value(toStoredText(parent))}`);
  if (task !== undefined) {
    where.add((value) => `task = (select no from @task where id = ${value(toStoredText(task))})`);
  }
  if (before !== undefined) where.add((value) => `id < ${value(toStoredText(before))}`);
  if (idPrefix !== undefined) where.add((value) => hasIdPrefix(idPrefix, value));
  if (startedBy === "person") where.add(() => "by_person");
  return where;
}

/** Two searches in two indexes. */
function hasIdPrefix(prefix: string, value: (value: unknown) => string): string {
  const whole = `ses_${prefix.replace(/^ses_/, "")}`;
  const isBetween = (column: string, first: string) =>
    `${column} >= ${value(first)} and ${column} < ${value(endOfPrefix(first))}`;
  return `id in (
    select id from @session where ${isBetween("id", whole)}
    union all select id from @session where ${isBetween("right(substr(id, 5), 8)", prefix)}
  )`;
}
