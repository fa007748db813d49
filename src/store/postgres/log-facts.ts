/** What a store knows about logs when it judges appends: read from the tables, or remembered from the last commit. */
import type { SessionSummary, TaskState } from "../../domain/index.ts";
import type { LogKind, PreparedAppend } from "../admission.ts";
import type { PostgresConnection } from "./connection.ts";
import { parseLogState } from "./stored-json.ts";
import { fromStoredText, toStoredText } from "./stored-text.ts";

export interface KnownLog {
  readonly kind: LogKind;
  readonly id: string;
  /** The log number: negative for a task. Undefined if the log does not exist and no append of the group can start it. */
  readonly no: number | undefined;
  /** 0 if the log does not exist. */
  readonly head: number;
  /** Undefined if the log does not exist. */
  readonly state: SessionSummary | TaskState | undefined;
  /** The number of the task that a session belongs to. */
  readonly task: number | null;
  /** The facts that no cache holds. Undefined for a remembered log: only the database knows them. */
  readonly fresh: FreshFacts | undefined;
}

export interface FreshFacts {
  readonly generation: number | undefined;
  /** The head after each append of the group that was committed earlier, by append id. */
  readonly knownHeads: ReadonlyMap<string, number>;
}

export function logKey(kind: LogKind, id: string): string {
  return `${kind} ${id}`;
}

/**
 * Reads the logs of a group. The statements have different snapshots, which is safe: the ids of appends are read after
 * the heads, and the write compares head and lease again. Throws `log_corrupt` if the state of one of them is damaged.
 */
export async function loadLogs(
  connection: PostgresConnection,
  appends: readonly PreparedAppend[],
): Promise<Map<string, KnownLog>> {
  const sessions = appends.filter(({ kind }) => kind === "session");
  const tasks = appends.filter(({ kind }) => kind === "task");
  const starts = new Set(appends.filter(({ append }) => append.expectedHead === 0).map(toKey));
  const [sessionRows, taskRows, leases, ids, numbers] = await Promise.all([
    sessions.length === 0 ? [] : connection.tryQuery(SESSIONS, [listIds(sessions)]),
    tasks.length === 0 ? [] : connection.tryQuery(TASKS, [listIds(tasks)]),
    connection.tryQuery(GENERATIONS, [listIds(appends)]),
    connection.tryQuery(APPEND_HEADS, [
      appends.map(({ kind }) => kind === "session"),
      appends.map(({ logId }) => toStoredText(logId)),
      appends.map(({ append }) => toStoredText(append.id)),
    ]),
    starts.size === 0 ? [] : connection.tryQuery(NUMBERS, [starts.size]),
  ]);
  const rows = new Map([
    ...sessionRows.map((row) => [logKey("session", row[0] as string), row] as const),
    ...taskRows.map((row) => [logKey("task", row[0] as string), row] as const),
  ]);
  const generations = new Map(leases as unknown as [string, number][]);
  const heads = new Map<string, Map<string, number>>();
  for (const [isSession, logId, id, head] of ids as unknown as [boolean, string, string, number][]) {
    const key = logKey(isSession ? "session" : "task", logId);
    heads.set(key, (heads.get(key) ?? new Map<string, number>()).set(fromStoredText(id), head));
  }
  const free = numbers.map(([no]) => no as number);
  const logs = new Map<string, KnownLog>();
  for (const { kind, logId } of appends) {
    const key = logKey(kind, logId);
    if (logs.has(key)) continue;
    const stored = toStoredText(logId);
    const [, no, head = 0, state, task = null] = rows.get(logKey(kind, stored)) ?? [];
    const started = starts.has(key) && no === undefined ? free.shift() : undefined;
    const number = (no ?? started) as number | undefined;
    logs.set(key, {
      kind,
      id: logId,
      no: number === undefined || kind === "session" ? number : -number,
      head: head as number,
      state: state === undefined ? undefined : parseLogState(kind, state as string, logId),
      task: task as number | null,
      fresh: { generation: generations.get(stored), knownHeads: heads.get(logKey(kind, stored)) ?? new Map() },
    });
  }
  return logs;
}

/** The numbers of the tasks that sessions of the group are opened for. Tasks that do not exist are left out. */
export async function loadTaskNumbers(
  connection: PostgresConnection,
  taskIds: readonly string[],
): Promise<Map<string, number>> {
  if (taskIds.length === 0) return new Map();
  const rows = await connection.tryQuery("select id, no from @task where id = any($1::text[])", [
    taskIds.map(toStoredText),
  ]);
  return new Map((rows as unknown as [string, number][]).map(([id, no]) => [fromStoredText(id), no]));
}

const SESSIONS = "select id, no, head, summary, task from @session where id = any($1::text[])";
const TASKS = "select id, no, head, state from @task where id = any($1::text[])";
const GENERATIONS = "select session_id, generation from @lease where session_id = any($1::text[])";
/** `lateral` with a limit, because the planner does not know how few rows there are. */
const APPEND_HEADS = `
  select q.is_session, q.log_id, a.id, a.head from unnest($1::boolean[], $2::text[], $3::text[]) q(is_session, log_id, id),
    lateral (
      select no from @session where q.is_session and id = q.log_id
      union all select -no from @task where not q.is_session and id = q.log_id limit 1
    ) l,
    lateral (select id, head from @append where log = l.no and id = q.id limit 1) a`;
const NUMBERS = "select nextval('@log_number') from generate_series(1, $1::integer)";

function toKey({ kind, logId }: PreparedAppend): string {
  return logKey(kind, logId);
}

function listIds(appends: readonly PreparedAppend[]): string[] {
  return Array.from(new Set(appends.map(({ logId }) => toStoredText(logId))));
}
