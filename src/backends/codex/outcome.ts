/** Maps the end of a Codex turn to an outcome. */
import type { ErrorCode, LimitReached, TurnOutcome } from "../../domain/index.ts";
import { isLimitMessage, toCodexLimit } from "./limits.ts";
import type { RateLimits, TurnError } from "./wire.ts";

export interface CodexTurnEnd {
  readonly status: string;
  readonly error: TurnError | undefined;
  readonly limits: RateLimits | undefined;
  /** Whether the turn uses an OpenAI account, so that logging in can help. */
  readonly hasLogin: boolean;
}

export function toCodexOutcome({ status, error, limits, hasLogin }: CodexTurnEnd): TurnOutcome | LimitReached {
  if (status === "completed") return { status: "done" };
  if (error === undefined) {
    return status === "interrupted"
      ? { status: "cancelled" }
      : failedTurn("agent_failed", `codex ended the turn with status ${status}`);
  }
  const { word, http } = parseErrorInfo(error.codexErrorInfo);
  const message = formatTurnError(error);
  if (word === "usageLimitExceeded" || isLimitMessage(message)) return toCodexLimit(message, limits, new Date());
  const code = CODES[word] ?? toStatusCode(http) ?? "agent_failed";
  return failedTurn(code, code === "provider_auth" && hasLogin ? `${message}: ${CODEX_LOGIN_FIX}` : message);
}

export const CODEX_LOGIN_FIX = "log in with `codex login` (or, with an API key: `codex login --with-api-key`)";

const CODES: Readonly<Record<string, ErrorCode>> = {
  unauthorized: "provider_auth",
  modelNotFound: "model_not_found",
  rateLimitExceeded: "provider_rate_limited",
  serverOverloaded: "provider_overloaded",
  internalServerError: "provider_failed",
  cyberPolicy: "provider_refused",
};

function toStatusCode(status: number | undefined): ErrorCode | undefined {
  if (status === 401 || status === 403) return "provider_auth";
  if (status === 429) return "provider_rate_limited";
  return status !== undefined && status >= 500 ? "provider_failed" : undefined;
}

/** Reads a string, or an object with one key and the details below it. */
function parseErrorInfo(info: unknown): { word: string; http?: number | undefined } {
  if (typeof info === "string") return { word: info };
  const [entry] = typeof info === "object" && info !== null ? Object.entries(info) : [];
  const http = (entry?.[1] as { httpStatusCode?: unknown } | null | undefined)?.httpStatusCode;
  return { word: entry?.[0] ?? "", http: typeof http === "number" ? http : undefined };
}

/** Extracts the message from a provider's JSON response, which Codex sometimes forwards unchanged. */
function formatTurnError({ message, additionalDetails }: TurnError): string {
  const said = /"message":\s*"((?:[^"\\]|\\.)+)"/.exec(message)?.[1];
  const words =
    message.trimStart().startsWith("{") && said !== undefined ? (JSON.parse(`"${said}"`) as string) : message;
  return additionalDetails === undefined || additionalDetails === null ? words : `${words} (${additionalDetails})`;
}

function failedTurn(code: ErrorCode, message: string): TurnOutcome {
  return { status: "failed", code, message };
}
