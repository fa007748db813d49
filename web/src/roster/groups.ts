/** The rows of the roster: tasks, and sessions that belong to no task, grouped by what they need. */
import type { SessionSummary } from "../../../src/domain/summary.ts";
import type { TaskView } from "../../../src/domain/task/view.ts";
import type { Usage } from "../../../src/domain/usage.ts";
import type { Route } from "../routes.ts";

export const GROUPS = ["needs_you", "working", "parked", "queued", "done", "failed"] as const;
export type Group = (typeof GROUPS)[number];

export const GROUP_TITLES: Readonly<Record<Group, string>> = {
  needs_you: "Needs you",
  working: "Working",
  parked: "Parked",
  queued: "Queued",
  done: "Done",
  failed: "Failed",
};

export interface RosterRow {
  readonly id: string;
  readonly kind: "task" | "session";
  readonly group: Group;
  readonly title: string;
  readonly agent: string;
  /** A path: the repository of a task, or the folder of a session. */
  readonly folder: string;
  readonly branch: string | undefined;
  readonly status: string;
  readonly lastLine: string | undefined;
  readonly message: string | undefined;
  readonly usage: Usage | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** How long a task has run, in milliseconds. */
  readonly ranMs: number | undefined;
  readonly merged: boolean;
  readonly route: Route;
}

const TASK_GROUPS: Readonly<Record<TaskView["status"], Group>> = {
  waiting: "needs_you",
  queued: "queued",
  preparing: "working",
  running: "working",
  parked: "parked",
  done: "done",
  failed: "failed",
  stopped: "failed",
};

export function taskRow(task: TaskView): RosterRow {
  return {
    id: task.id,
    kind: "task",
    group: TASK_GROUPS[task.status],
    title: task.title,
    agent: task.agent,
    folder: task.repository,
    branch: task.worktree?.branch,
    status: task.merge?.outcome === "merged" ? "merged" : task.status,
    lastLine: task.lastLine,
    message: task.message,
    usage: task.usage,
    createdAt: task.createdAt,
    updatedAt: task.endedAt ?? task.startedAt ?? task.createdAt,
    ranMs: task.ranMs,
    merged: task.merge?.outcome === "merged",
    route: { screen: "task", id: task.id, tab: "conversation" },
  };
}

export function sessionRow(session: SessionSummary): RosterRow {
  return {
    id: session.id,
    kind: "session",
    group: sessionGroup(session),
    title: session.title ?? "New session",
    agent: session.agent,
    folder: session.cwd,
    branch: undefined,
    status: session.status,
    lastLine: session.lastLine,
    message: undefined,
    usage: session.usage,
    createdAt: session.createdAt,
    updatedAt: session.updatedAt,
    ranMs: undefined,
    merged: false,
    route: { screen: "session", id: session.id },
  };
}

function sessionGroup({ status, lastOutcome }: SessionSummary): Group {
  if (status === "waiting") return "needs_you";
  if (status === "running" || status === "copying") return "working";
  if (status === "parked") return "parked";
  return lastOutcome === "failed" || lastOutcome === "stalled" ? "failed" : "done";
}

/** Sessions that agents or tasks started are shown inside these. */
export function isTopLevel({ task, depth }: SessionSummary): boolean {
  return task === undefined && (depth ?? 0) === 0;
}

/** Whether every word of the search is somewhere in the row, in any case. */
export function matchesSearch(row: RosterRow, search: string): boolean {
  const text = [row.id, row.title, row.agent, row.folder, row.branch, row.status, row.lastLine, row.message]
    .join("\n")
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
