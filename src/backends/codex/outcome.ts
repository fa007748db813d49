/** Maps the end of a Codex turn to an outcome. */
import type { ErrorCode, LimitReached, TurnOutcome } from "../../domain/index.ts";
import { isLimitMessage, limitReached } from "./limits.ts";
import type { RateLimits, TurnError } from "./wire.ts";

export interface Ended {
  readonly status: string;
  readonly error: TurnError | undefined;
  readonly limits: RateLimits | undefined;
  /** Whether the turn uses an OpenAI account, so that logging in can help. */
  readonly hasLogin: boolean;
}

export function outcomeOf({ status, error, limits, hasLogin }: Ended): TurnOutcome | LimitReached {
  if (status === "completed") return { status: "done" };
  if (error === undefined) {
    return status === "interrupted"
      ? { status: "cancelled" }
      : failed("agent_failed", `codex ended the turn with status ${status}`);
  }
  const { word, http } = infoOf(error.codexErrorInfo);
  const message = readable(error);
  if (word === "usageLimitExceeded" || isLimitMessage(message)) return limitReached(message, limits, new Date());
  const code = CODES[word] ?? codeOfStatus(http) ?? "agent_failed";
  return failed(code, code === "provider_auth" && hasLogin ? `${message}: ${LOGIN}` : message);
}

export const LOGIN = "log in with `codex login` (or, with an API key: `codex login --with-api-key`)";

const CODES: Readonly<Record<string, ErrorCode>> = {
  unauthorized: "provider_auth",
  modelNotFound: "model_not_found",
  rateLimitExceeded: "provider_rate_limited",
  serverOverloaded: "provider_overloaded",
  internalServerError: "provider_failed",
  cyberPolicy: "provider_refused",
};

function codeOfStatus(status: number | undefined): ErrorCode | undefined {
  if (status === 401 || status === 403) return "provider_auth";
  if (status === 429) return "provider_rate_limited";
  return status !== undefined && status >= 500 ? "provider_failed" : undefined;
}

/** Reads a string, or an object with one key and the details below it. */
function infoOf(info: unknown): { word: string; http?: number | undefined } {
  if (typeof info === "string") return { word: info };
  const [entry] = typeof info === "object" && info !== null ? Object.entries(info) : [];
  const http = (entry?.[1] as { httpStatusCode?: unknown } | null | undefined)?.httpStatusCode;
  return { word: entry?.[0] ?? "", http: typeof http === "number" ? http : undefined };
}

/** Extracts the message from a provider's JSON response, which Codex sometimes forwards unchanged. */
function readable({ message, additionalDetails }: TurnError): string {
  const said = /"message":\s*"((?:[^"\\]|\\.)+)"/.exec(message)?.[1];
  const words =
    message.trimStart().startsWith("{") && said !== undefined ? (JSON.parse(`"${said}"`) as string) : message;
  return additionalDetails === undefined || additionalDetails === null ? words : `${words} (${additionalDetails})`;
}

function failed(code: ErrorCode, message: string): TurnOutcome {
  return { status: "failed", code, message };
}
