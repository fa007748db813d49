/** Maps errors to exit codes and prints them as one line on stderr. */
import { type ErrorCode, isRookeryError, messageOf, RookeryError } from "../domain/errors.ts";
import { describeErrno } from "./errno.ts";
import { type Io, printNotice } from "./io.ts";
import { stripControls } from "./sanitize.ts";

export const EXIT = { done: 0, failed: 1, usage: 2, undecided: 3, cancelled: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A new error code does not compile until it is listed here. 2 means invalid usage, input or configuration. */
const EXIT_BY_CODE: Record<ErrorCode, ExitCode> = {
  usage: EXIT.usage,
  config_invalid: EXIT.usage,
  agent_unknown: EXIT.usage,
  model_invalid: EXIT.usage,
  input_invalid: EXIT.usage,
  input_too_large: EXIT.usage,
  attachment_missing: EXIT.usage,
  blob_not_found: EXIT.failed,
  mcp_unknown: EXIT.usage,
  not_trusted: EXIT.undecided,
  mcp_login: EXIT.undecided,
  session_not_found: EXIT.failed,
  session_closed: EXIT.failed,
  session_in_use: EXIT.failed,
  native_session_not_found: EXIT.failed,
  native_session_in_use: EXIT.failed,
  native_session_unreadable: EXIT.failed,
  turn_in_progress: EXIT.failed,
  request_not_found: EXIT.failed,
  request_resolved: EXIT.failed,
  input_not_queued: EXIT.failed,
  append_conflict: EXIT.failed,
  lease_lost: EXIT.failed,
  store_locked: EXIT.failed,
  store_readonly: EXIT.failed,
  store_full: EXIT.failed,
  store_corrupt: EXIT.failed,
  store_newer: EXIT.failed,
  store_replaced: EXIT.failed,
  store_unavailable: EXIT.failed,
  store_closed: EXIT.failed,
  log_corrupt: EXIT.failed,
  agent_unavailable: EXIT.failed,
  agent_not_ready: EXIT.failed,
  usage_limited: EXIT.failed,
  agent_exited: EXIT.failed,
  agent_failed: EXIT.failed,
  backend_unsupported: EXIT.failed,
  backend_unknown: EXIT.failed,
  provider_unconfigured: EXIT.failed,
  provider_auth: EXIT.failed,
  provider_unreachable: EXIT.failed,
  provider_refused: EXIT.failed,
  provider_rate_limited: EXIT.failed,
  provider_overloaded: EXIT.failed,
  provider_failed: EXIT.failed,
  provider_unknown: EXIT.failed,
  provider_mismatch: EXIT.failed,
  context_overflow: EXIT.failed,
  code_unavailable: EXIT.failed,
  subagent_limit: EXIT.failed,
  model_not_found: EXIT.failed,
  tool_conflict: EXIT.failed,
  tools_stale: EXIT.failed,
  plugin_failed: EXIT.failed,
  mcp_unavailable: EXIT.failed,
  mcp_failed: EXIT.failed,
  cwd_missing: EXIT.failed,
  task_not_found: EXIT.failed,
  task_exists: EXIT.failed,
  task_state: EXIT.failed,
  git_missing: EXIT.failed,
  git_failed: EXIT.failed,
  repository_missing: EXIT.failed,
  repository_empty: EXIT.failed,
  repository_bare: EXIT.failed,
  repository_locked: EXIT.failed,
  remote_unreachable: EXIT.failed,
  remote_refused: EXIT.failed,
  identity_missing: EXIT.failed,
  base_not_found: EXIT.usage,
  branch_exists: EXIT.failed,
  worktree_missing: EXIT.failed,
  worktree_unmerged: EXIT.undecided,
  checkout_dirty: EXIT.failed,
  setup_failed: EXIT.failed,
  stage_failed: EXIT.failed,
  merge_conflict: EXIT.failed,
  gate_failed: EXIT.failed,
  budget_reached: EXIT.failed,
  port_unavailable: EXIT.failed,
  disk_full: EXIT.failed,
  server_unreachable: EXIT.failed,
  server_running: EXIT.failed,
  host_in_use: EXIT.failed,
  other_host: EXIT.failed,
  worker_not_found: EXIT.failed,
  unauthorized: EXIT.failed,
  platform_unsupported: EXIT.failed,
  interrupted: EXIT.failed,
  internal: EXIT.failed,
};

/** Creates an error for invalid usage. The message says what to type instead. */
export function usageError(message: string): RookeryError {
  return new RookeryError("usage", message);
}

/** Prints one line, and the stack trace with ROOKERY_DEBUG=1. */
export function reportError(io: Io, thrown: unknown): ExitCode {
  const error = rootFailure(thrown);
  printNotice(io, formatError(error));
  if (io.env["ROOKERY_DEBUG"] === "1") io.stderr.write(`${stripControls(formatStack(thrown))}\n`);
  return isRookeryError(error) ? EXIT_BY_CODE[error.code] : EXIT.failed;
}

/** Returns the first failure. Errors of closing resources after it are not the cause. */
function rootFailure(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return rootFailure(error.errors[0]);
  const suppressed = error instanceof Error && error.name === "SuppressedError" && "suppressed" in error;
  return suppressed ? rootFailure(error.suppressed) : error;
}

/** Formats an error for people. Of several errors, the first one. */
export function formatError(thrown: unknown): string {
  const error = rootFailure(thrown);
  if (isRookeryError(error)) return error.message;
  const { path } = (error ?? {}) as { path?: unknown };
  const words = describeErrno(error);
  if (words !== undefined && typeof path === "string") return `cannot use ${path}: ${words}; run rookery doctor`;
  return `unexpected error: ${messageOf(error)}; set ROOKERY_DEBUG=1 to print the stack trace`;
}

function formatStack(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause ?? ("suppressed" in error ? error.suppressed : undefined);
  const cause = inner === undefined ? "" : `\ncaused by ${formatStack(inner)}`;
  return `${error.stack ?? error.message}${cause}`;
}
