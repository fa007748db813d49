/** Formats tasks and task events for people. */
import type { LogEvent } from "../../domain/task/store.ts";
import { shortId } from "../../domain/ids.ts";
import type { MergeOutcome, TaskEvent } from "../../domain/task/events.ts";
import type { TaskView } from "../../domain/task/view.ts";
import { formatLocalTime } from "../format.ts";
import { shortenPaths } from "../relative-paths.ts";
import type { ListedTask } from "./interrupted.ts";

export function isTaskEvent(event: LogEvent): event is TaskEvent {
  return "taskId" in event;
}

/** Empty if the event type says everything. `stages`: the names of the stages of the task. */
export function formatTaskEvent(event: TaskEvent, stages: readonly string[] = []): string {
  switch (event.type) {
    case "task.created":
      return `${event.spec.agent} in ${event.spec.repository}: ${event.spec.title}`;
    case "task.queued":
      return [
        QUEUE_REASON_TEXT[event.why],
        event.message,
        event.notBefore && `not before ${formatLocalTime(event.notBefore)}`,
      ]
        .filter((part) => part !== undefined && part !== "")
        .join("; ");
    case "task.started":
      return event.run === 1 ? "" : `run ${event.run}`;
    case "worktree.made": {
      const from = `from ${event.base} (${shortCommit(event.baseCommit)})`;
      const restored = event.restored === undefined ? "" : `, restored from ${shortCommit(event.restored)}`;
      const where = event.host === undefined ? "" : ` on host ${event.host}`;
      return `${event.path} on ${event.branch}${where}, ${from}${restored}`;
    }
    case "worktree.saved":
      return shortCommit(event.commit);
    case "output.text":
      return `${event.from}: ${event.text}`;
    case "stage.started":
      return `${event.name}${event.attempt === 1 ? "" : ` (attempt ${event.attempt})`}${event.sessionId === undefined ? "" : ` in ${shortId(event.sessionId)}`}`;
    case "stage.ended": {
      const why = event.message === undefined ? "" : `: ${event.message.trimEnd()}`;
      const { backTo } = event;
      const back = backTo === undefined ? "" : `; returns to ${stages[backTo] ?? `stage ${backTo + 1}`}`;
      return `${event.name} ${event.passed ? "passed" : `failed${why}${back}`}`;
    }
    case "task.parked":
      return `until ${formatLocalTime(event.until)}: ${event.message}`;
    case "task.stop_asked":
      return event.reason ?? "";
    case "task.ended":
      return `${event.outcome}${event.message === undefined ? "" : `: ${event.message}`}`;
    case "merge.asked":
      return `${event.how} into ${event.into}${event.gate === undefined ? "" : `, gate: ${event.gate}`}`;
    case "merge.prepared":
      return shortCommit(event.commit);
    case "merge.waiting":
      return event.message;
    case "merge.ended":
      return [MERGE_OUTCOME_TEXT[event.outcome], event.conflicts?.join(", "), event.message]
        .filter((part) => part !== undefined && part !== "")
        .join(": ");
    case "worktree.removed":
      return `${event.path}, ${event.branch}${event.forced ? " (forced)" : ""}`;
    case "notice":
      return `${event.level}: ${event.message}`;
    case "task.removed":
      return event.message ?? "";
    case "worktree.ready":
      return "";
  }
}

const QUEUE_REASON_TEXT: Record<Extract<TaskEvent, { type: "task.queued" }>["why"], string> = {
  resumed: "resumed",
  continued: "the limit was lifted",
  interrupted: "its process is gone",
  retried: "retried",
  unavailable: "the process that took it cannot continue it",
};

export const MERGE_OUTCOME_TEXT: Record<MergeOutcome, string> = {
  merged: "merged",
  nothing: "nothing to merge",
  conflicts: "conflicts",
  gate_failed: "the gate failed",
  failed: "the merge failed",
};

/** Explains the status of a task, or returns its last output line. */
export function formatLastActivity(task: ListedTask): string {
  const { status, merge, message, worktree } = task;
  const lastLine = shortenPaths(task.lastLine ?? "", worktree?.path);
  if (task.interrupted) return `its process is gone; continue it with: rookery task resume ${task.id}`;
  if (status === "waiting") return `needs an answer: rookery task show ${task.id}`;
  if (merge !== undefined && merge.outcome === undefined) return `merging into ${merge.into}`;
  if (status === "queued") return formatQueueReason(task);
  if (status === "parked")
    return [task.notBefore && `until ${formatLocalTime(task.notBefore)}`, message].filter(Boolean).join(": ");
  if (status === "failed" || status === "stopped") return message ?? lastLine;
  return merge?.outcome === undefined ? lastLine : (formatMergeOutcome(merge, merge.outcome) ?? lastLine);
}

function formatMergeOutcome(
  { into, conflicts = [] }: NonNullable<TaskView["merge"]>,
  outcome: MergeOutcome,
): string | undefined {
  switch (outcome) {
    case "merged":
      return `merged into ${into}`;
    case "conflicts":
      return `conflicts with ${into}: ${conflicts.join(", ")}`;
    case "gate_failed":
    case "failed":
      return `not merged into ${into}: ${MERGE_OUTCOME_TEXT[outcome]}`;
    case "nothing":
      return undefined;
  }
}

function formatQueueReason({ notBefore, message, needs }: TaskView): string {
  if (notBefore !== undefined)
    return `not before ${formatLocalTime(notBefore)}${message === undefined ? "" : `: ${message}`}`;
  return message ?? (needs.length === 0 ? "" : `after ${needs.join(", ")}`);
}

export function shortCommit(commit: string): string {
  return commit.slice(0, 9);
}
