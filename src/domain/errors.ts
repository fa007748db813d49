/**
 * Errors that a caller can act on. Each has a code to branch on, and a message that says what happened and what to do
 * next.
 */

export const ERROR_CODES = [
  "session_not_found",
  "session_closed",
  "session_in_use",
  "native_session_not_found",
  "native_session_in_use",
  "native_session_unreadable",
  "turn_in_progress",
  "request_not_found",
  "request_resolved",
  "input_not_queued",
  "append_conflict",
  "lease_lost",
  "store_locked",
  "store_readonly",
  "store_full",
  "store_corrupt",
  "store_newer",
  "store_replaced",
  "store_unavailable",
  "store_closed",
  "log_corrupt",
  "config_invalid",
  "not_trusted",
  "agent_unknown",
  "agent_unavailable",
  "agent_not_ready",
  "agent_exited",
  "agent_failed",
  "backend_unsupported",
  "backend_unknown",
  "model_invalid",
  "provider_unconfigured",
  "provider_auth",
  "provider_unreachable",
  "provider_refused",
  "provider_rate_limited",
  "usage_limited",
  "provider_overloaded",
  "provider_failed",
  "provider_unknown",
  "provider_mismatch",
  "context_overflow",
  "model_not_found",
  "code_unavailable",
  "subagent_limit",
  "tool_conflict",
  "tools_stale",
  "plugin_failed",
  "mcp_unknown",
  "mcp_unavailable",
  "mcp_failed",
  "mcp_login",
  "cwd_missing",
  "task_not_found",
  "task_exists",
  "task_state",
  "git_missing",
  "git_failed",
  "repository_missing",
  "repository_empty",
  "repository_bare",
  "repository_locked",
  "remote_unreachable",
  "remote_refused",
  "identity_missing",
  "base_not_found",
  "branch_exists",
  "worktree_missing",
  "worktree_unmerged",
  "checkout_dirty",
  "setup_failed",
  "stage_failed",
  "merge_conflict",
  "gate_failed",
  "budget_reached",
  "port_unavailable",
  "disk_full",
  "server_unreachable",
  "server_running",
  "host_in_use",
  "other_host",
  "worker_not_found",
  "unauthorized",
  "input_invalid",
  "input_too_large",
  "attachment_missing",
  "blob_not_found",
  "usage",
  "platform_unsupported",
  "interrupted",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** A new `store_*` code does not compile until it is listed here. */
const STORE_CODES: Record<Extract<ErrorCode, `store_${string}`>, true> = {
  store_locked: true,
  store_readonly: true,
  store_full: true,
  store_corrupt: true,
  store_newer: true,
  store_replaced: true,
  store_unavailable: true,
  store_closed: true,
};

/** A new `provider_*` or `model_*` code does not compile until it is listed here. */
const MODEL_CODES: Record<Extract<ErrorCode, `provider_${string}` | `model_${string}`> | "context_overflow", true> = {
  provider_unconfigured: true,
  provider_auth: true,
  provider_unreachable: true,
  provider_refused: true,
  provider_rate_limited: true,
  provider_overloaded: true,
  provider_failed: true,
  provider_unknown: true,
  provider_mismatch: true,
  model_invalid: true,
  model_not_found: true,
  context_overflow: true,
};

/** True if the store cannot be opened, read or written. */
export function isStoreErrorCode(code: ErrorCode): boolean {
  return Object.hasOwn(STORE_CODES, code);
}

/** True if a model could not be called or did not answer. */
export function isModelErrorCode(code: ErrorCode): boolean {
  return Object.hasOwn(MODEL_CODES, code);
}

export class RookeryError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "RookeryError";
    this.code = code;
  }
}

export function isRookeryError(error: unknown, code?: ErrorCode): error is RookeryError {
  try {
    return error instanceof RookeryError && (code === undefined || error.code === code);
  } catch {
    return false; // the value is a proxy whose prototype cannot be read
  }
}

/** Creates the error for an event in a log that cannot be applied; `what` names the event. */
export function unknownEvent(what: string, cause: unknown): RookeryError {
  const reason = "the log is damaged, or a newer version wrote it";
  return new RookeryError(
    "log_corrupt",
    `${what} cannot be read: ${reason}; update rookery, or restore the log from a backup`,
    {
      cause,
    },
  );
}

const MAX_MESSAGE_LENGTH = 64 * 1024;

/**
 * Returns the message of any thrown value, at most 64 Ki characters. Never throws, even if the `message` or `toString` of
 * the value throws or is not a string.
 */
export function messageOf(error: unknown): string {
  try {
    const message: unknown = error instanceof Error ? error.message : error;
    return String(message).slice(0, MAX_MESSAGE_LENGTH).toWellFormed();
  } catch {
    return "a value without a readable message was thrown";
  }
}
