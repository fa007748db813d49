/** Decodes stored session summaries and task states, and checks their shape. */
import type { SessionSummary, TaskSpec, TaskState } from "../../domain/index.ts";
import { toDamageError, decodeJson } from "./columns.ts";
import type { Cell, Database, Row } from "./database.ts";
import type { ReadPiece } from "./pages.ts";

/** Throws `log_corrupt` if the summary is damaged. */
export function decodeSummary(db: Database, sessionId: string, cell: Cell | undefined): SessionSummary {
  const summary = decodeJson(cell, isSummary);
  if (summary?.id !== sessionId) throw toDamageError(db.path, `the summary of session ${sessionId}`);
  return summary;
}

/** Throws `log_corrupt` if the state is damaged. */
export function decodeTaskState(db: Database, taskId: string, cell: Cell | undefined): TaskState {
  const state = decodeJson(cell, isTaskState);
  if (state?.id !== taskId) throw toDamageError(db.path, `the state of task ${taskId}`);
  return state;
}

/** Rows decoded per event loop slice. Takes about 1 ms. */
const MAX_PIECE_ROWS = 100;

export interface RowReader<T> {
  readonly read: (limit: number) => readonly Row[];
  readonly decode: (row: Row) => T | undefined;
  readonly readPiece: ReadPiece;
}

/**
 * Reads up to `limit` rows in one query. Skips damaged rows, so that they do not hide the others: reading such a row by
 * its id throws the error. Fills the page with later rows, because callers treat a short page as the last one.
 */
export async function readDecodableRows<T>(limit: number, { read, decode, readPiece }: RowReader<T>): Promise<T[]> {
  for (let more = 0; ;) {
    const rows = await readPiece(() => read(limit + more));
    const decoded: T[] = [];
    for (let from = 0; from < rows.length; from += MAX_PIECE_ROWS) {
      const some = rows.slice(from, from + MAX_PIECE_ROWS);
      decoded.push(...(await readPiece(() => some.flatMap((row) => decode(row) ?? []))));
    }
    if (decoded.length >= limit || rows.length < limit + more) return decoded.slice(0, limit);
    more = 2 * (rows.length - decoded.length);
  }
}

type Fields = Readonly<Record<string, unknown>>;

const SUMMARY_STRINGS = ["id", "agent", "backend", "cwd", "createdAt", "updatedAt", "status"];
const SUMMARY_OPTIONAL = [
  "model",
  "title",
  "parent",
  "task",
  "host",
  "parkedUntil",
  "lastOutcome",
  "lastLine",
  "lastPrompt",
];

/** A cheap check, because it runs for every row of a list. */
export function isSummary(value: unknown): value is SessionSummary {
  return (
    isObjectValue(value) &&
    SUMMARY_STRINGS.every((key) => typeof value[key] === "string") &&
    SUMMARY_OPTIONAL.every((key) => value[key] === undefined || typeof value[key] === "string") &&
    [value.head, value.turns].every(Number.isSafeInteger) &&
    isStringArray(value.waitingFor) &&
    (value.ofNoTurn === undefined || isStringArray(value.ofNoTurn)) &&
    (value.usage === undefined || isObjectValue(value.usage))
  );
}

const TASK_STRINGS = ["id", "phase", "createdAt", "updatedAt"];
const TASK_NUMBERS = ["head", "ranMs", "runs", "retried", "stage"];
const TASK_OPTIONAL = ["startedAt", "endedAt", "runningSince", "owner", "notBefore", "feedback", "said", "message"];
const SPEC_STRINGS = ["prompt", "title", "repository", "agent", "provider"];
const OPTIONAL_FIELDS = ["current", "worktree", "merge"];

/** A cheap check, because it runs for every row of a list. */
export function isTaskState(value: unknown): value is TaskState {
  return (
    isObjectValue(value) &&
    TASK_STRINGS.every((key) => typeof value[key] === "string") &&
    TASK_NUMBERS.every((key) => typeof value[key] === "number") &&
    TASK_OPTIONAL.every((key) => value[key] === undefined || typeof value[key] === "string") &&
    OPTIONAL_FIELDS.every((key) => value[key] === undefined || isObjectValue(value[key])) &&
    isObjectValue(value.attempts) &&
    Array.isArray(value.sessions) &&
    value.sessions.every((session) => isObjectValue(session) && typeof session.id === "string") &&
    isSpec(value.spec)
  );
}

function isSpec(value: unknown): value is TaskSpec {
  return (
    isObjectValue(value) &&
    SPEC_STRINGS.every((key) => typeof value[key] === "string") &&
    typeof value.priority === "number" &&
    isStringArray(value.needs) &&
    isObjectValue(value.budget) &&
    isObjectValue(value.limits) &&
    Array.isArray(value.stages) &&
    value.stages.every((stage) => isObjectValue(stage) && typeof stage.name === "string")
  );
}

/** A JSON object. */
export function isObjectValue(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
