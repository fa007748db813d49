/** Maps a Claude Code `result` to a turn outcome. */
import type { ErrorCode, LimitReached, TurnOutcome } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import { toClaudeLimit, mentionsLimit } from "./limits.ts";
import { numberAt, textAt, textsAt } from "./record-fields.ts";

/** Instructions for logging in. */
export const LOGIN_FIX =
  "run `claude` and then /login, or `claude setup-token` for a token in CLAUDE_CODE_OAUTH_TOKEN, or set ANTHROPIC_API_KEY";

export interface ResultContext {
  /** Kind of the last API error that the program reported. */
  readonly error: string | undefined;
  /** The last rate limit record. */
  readonly rateLimit: JsonRecord | undefined;
  readonly now: number;
}

export function toClaudeOutcome(result: JsonRecord, context: ResultContext): TurnOutcome | LimitReached {
  if (result["is_error"] !== true && !isErrorKind(result)) {
    const stopReason = textAt(result, "stop_reason");
    return { status: "done", ...(stopReason !== undefined && { stopReason }) };
  }
  const words = formatResultErrors(result);
  if (isLoginError(result, context, words)) return toLoginFailure(words);
  if (isLimitError(result, context, words)) return toClaudeLimit(words, context.rateLimit, context.now);
  return { status: "failed", code: toErrorCode(result, context), message: words };
}

/** Some versions report a turn that was cut short only by its subtype. */
function isErrorKind(result: JsonRecord): boolean {
  return textAt(result, "subtype")?.startsWith("error") === true;
}

export function toLoginFailure(words: string): TurnOutcome {
  return { status: "failed", code: "provider_auth", message: `Claude Code is not logged in (${words}): ${LOGIN_FIX}` };
}

const LOGIN = /please run \/login|not logged in|invalid api key|oauth (?:token|session).{0,40}(?:expired|revoked)/i;

function isLoginError(result: JsonRecord, { error }: ResultContext, words: string): boolean {
  return error === "authentication_failed" || numberAt(result, "api_error_status") === 401 || LOGIN.test(words);
}

/** Whether a usage limit was reached. A per-minute rate limit passes quickly and does not count. */
function isLimitError(result: JsonRecord, { error, rateLimit }: ResultContext, words: string): boolean {
  if (textAt(result, "api_error") === "usage_limit_reached" || mentionsLimit(words)) return true;
  return error === "rate_limit" && textAt(rateLimit, "status") === "rejected";
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  model_not_found: "model_not_found",
  billing_error: "provider_refused",
  invalid_request: "provider_refused",
  rate_limit: "provider_rate_limited",
  overloaded: "provider_overloaded",
  server_error: "provider_failed",
};

function toErrorCode(result: JsonRecord, { error }: ResultContext): ErrorCode {
  const status = numberAt(result, "api_error_status");
  if (status === 529) return "provider_overloaded";
  return CODES[error ?? ""] ?? (textAt(result, "terminal_reason") === "api_error" ? "provider_failed" : "agent_failed");
}

const MAX_MESSAGE_LENGTH = 2_000;
/** Debug notes of the program for its own developers. */
const DIAGNOSTIC = /^\[\w+_diagnostic\]/;

function formatResultErrors(result: JsonRecord): string {
  const errors = textsAt(result, "errors").filter((text) => !DIAGNOSTIC.test(text));
  const said = [textAt(result, "result") ?? "", ...errors].filter((text) => text.trim() !== "").join("; ");
  return (said || `Claude Code ended the turn with ${textAt(result, "subtype") ?? "an error"}`).slice(
    0,
    MAX_MESSAGE_LENGTH,
  );
}
