/** Summaries and states of tasks as they are kept: decoded, and checked for their shape. */
import type { SessionSummary, TaskSpec, TaskState } from "../../domain/index.ts";
import { damageIn, decodeJson } from "./columns.ts";
import type { Cell, Database, Row } from "./database.ts";
import type { ReadPiece } from "./pages.ts";

/** Throws `log_corrupt`. */
export function summaryOf(db: Database, sessionId: string, cell: Cell | undefined): SessionSummary {
  const summary = decodeJson(cell, isSummary);
  if (summary?.id !== sessionId) throw damageIn(db.path, `the summary of session ${sessionId}`);
  return summary;
}

/** Throws `log_corrupt`. */
export function taskStateOf(db: Database, taskId: string, cell: Cell | undefined): TaskState {
  const state = decodeJson(cell, isTaskState);
  if (state?.id !== taskId) throw damageIn(db.path, `the state of task ${taskId}`);
  return state;
}

/** Decoded in one piece while others wait: about 1 ms of work. */
const ROWS_IN_A_PIECE = 100;

export interface ListedRows<T> {
  readonly read: (limit: number) => readonly Row[];
  readonly decode: (row: Row) => T | undefined;
  readonly readPiece: ReadPiece;
}

/**
 * As many decoded rows as the limit allows, all of one moment. Damaged rows are left out, so that they do not hide the others; whoever
 * asks for one by its id gets the error. The page is filled up with later rows, because a short page means the end to whoever pages.
 */
export async function readableRows<T>(limit: number, { read, decode, readPiece }: ListedRows<T>): Promise<T[]> {
  for (let more = 0; ;) {
    const rows = await readPiece(() => read(limit + more));
    const decoded: T[] = [];
    for (let from = 0; from < rows.length; from += ROWS_IN_A_PIECE) {
      const some = rows.slice(from, from + ROWS_IN_A_PIECE);
      decoded.push(...(await readPiece(() => some.flatMap((row) => decode(row) ?? []))));
    }
    if (decoded.length >= limit || rows.length < limit + more) return decoded.slice(0, limit);
    more = 2 * (rows.length - decoded.length);
  }
}

type Fields = Readonly<Record<string, unknown>>;

const SUMMARY_STRINGS = ["id", "agent", "backend", "cwd", "createdAt", "updatedAt", "status"];
const SUMMARY_OPTIONAL = ["model", "title", "parent", "task", "parkedUntil", "lastOutcome", "lastLine"];

/** Cheap enough for each row of a listing. */
export function isSummary(value: unknown): value is SessionSummary {
  return (
    isFields(value) &&
    SUMMARY_STRINGS.every((key) => typeof value[key] === "string") &&
    SUMMARY_OPTIONAL.every((key) => value[key] === undefined || typeof value[key] === "string") &&
    [value.head, value.turns].every(Number.isSafeInteger) &&
    isTexts(value.waitingFor) &&
    (value.ofNoTurn === undefined || isTexts(value.ofNoTurn)) &&
    (value.usage === undefined || isFields(value.usage))
  );
}

const TASK_STRINGS = ["id", "phase", "createdAt", "updatedAt"];
const TASK_NUMBERS = ["head", "ranMs", "runs", "retried", "stage"];
const TASK_OPTIONAL = ["startedAt", "endedAt", "runningSince", "owner", "notBefore", "feedback", "said", "message"];
const SPEC_STRINGS = ["prompt", "title", "repository", "agent", "provider"];
const OPTIONAL_FIELDS = ["current", "worktree", "merge"];

/** Cheap enough for each row of a listing. */
export function isTaskState(value: unknown): value is TaskState {
  return (
    isFields(value) &&
    TASK_STRINGS.every((key) => typeof value[key] === "string") &&
    TASK_NUMBERS.every((key) => typeof value[key] === "number") &&
    TASK_OPTIONAL.every((key) => value[key] === undefined || typeof value[key] === "string") &&
    OPTIONAL_FIELDS.every((key) => value[key] === undefined || isFields(value[key])) &&
    isFields(value.attempts) &&
    Array.isArray(value.sessions) &&
    value.sessions.every((session) => isFields(session) && typeof session.id === "string") &&
    isSpec(value.spec)
  );
}

function isSpec(value: unknown): value is TaskSpec {
  return (
    isFields(value) &&
    SPEC_STRINGS.every((key) => typeof value[key] === "string") &&
    typeof value.priority === "number" &&
    isTexts(value.needs) &&
    isFields(value.budget) &&
    isFields(value.limits) &&
    Array.isArray(value.stages) &&
    value.stages.every((stage) => isFields(stage) && typeof stage.name === "string")
  );
}

/** A JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
