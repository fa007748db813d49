/** Closed sets of values that events, configuration, HTTP and the command line share. Imports nothing, so it loads fast. */

/** `copying`: a fork that is not complete yet; listed only if a query asks for it. `parked`: the turn waits for a time. */
export const SESSION_STATUSES = ["idle", "running", "waiting", "closed", "copying", "parked"] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const TASK_STATUSES = [
  "queued",
  "preparing",
  "running",
  "waiting",
  "parked",
  "done",
  "failed",
  "stopped",
] as const;
/** The phase of a task, or `waiting` while its running session waits for a person. */
export type TaskStatus = (typeof TASK_STATUSES)[number];
/** A task has no process of its own that could report `waiting`: its session does. */
export type TaskPhase = Exclude<TaskStatus, "waiting">;

/** True for a task that does nothing more unless a person resumes it. */
export function isEndedStatus(status: TaskStatus): boolean {
  return status === "done" || status === "failed" || status === "stopped";
}

export const PERMISSION_POLICIES = ["ask", "read", "all", "none"] as const;

export const MERGE_METHODS = ["merge", "squash", "rebase"] as const;
