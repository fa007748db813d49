/** Checks the shape of stored session summaries and task states, which may be damaged. */
import type { SessionSummary, TaskSpec, TaskState } from "../domain/index.ts";

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
