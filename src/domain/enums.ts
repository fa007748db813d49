/** Closed sets of values that events, configuration, HTTP and the command line share. Imports nothing, so it loads fast. */

/**
 * `copying`: a fork that is not complete; listed only if a query asks for it. `parked`: the turn waits for a usage
 * limit to reset.
 */
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
/** Without `waiting`, which only the session of a task reports. */
export type TaskPhase = Exclude<TaskStatus, "waiting">;

/** True for a task that does nothing until a person resumes it. */
export function isEndedStatus(status: TaskStatus): boolean {
  return status === "done" || status === "failed" || status === "stopped";
}

export const PERMISSION_POLICIES = ["ask", "read", "all", "none"] as const;

export const MERGE_METHODS = ["merge", "squash", "rebase"] as const;

/** The built-in ways to drive an agent. A program can register others, with other names: see `Rookery.open`. */
export const BACKEND_KINDS = ["api", "claude-code", "codex", "gemini-cli", "opencode", "acp", "command"] as const;
export type BackendKind = (typeof BACKEND_KINDS)[number];

/** The backends whose programs keep sessions that Rookery can adopt. */
export const ADOPTABLE_BACKENDS = ["claude-code", "codex", "gemini-cli"] as const;
export type AdoptableBackend = (typeof ADOPTABLE_BACKENDS)[number];

/** False for the name of a registered backend. */
export function isBackendKind(name: string): name is BackendKind {
  return (BACKEND_KINDS as readonly string[]).includes(name);
}

export const MCP_STATUSES = ["connecting", "ready", "needs_login", "failed", "gone"] as const;
/** `failed`: could not be connected. `gone`: was connected, and is being reconnected. */
export type McpStatus = (typeof MCP_STATUSES)[number];
