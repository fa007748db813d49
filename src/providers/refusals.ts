/** What the refusals of the model APIs mean, by their codes and words; not all of them were seen on the wire. */
import { errorOf, type Said } from "./waits.ts";

/** The conversation does not fit: the same again will not either. */
export function isOverflow(said: Said): boolean {
  const { status = 0 } = said;
  if (status === 401 || status === 403 || status === 404) return false;
  const { code, type } = errorOf(said);
  if (code === "context_length_exceeded" || code === "string_above_max_length") return true;
  if (type === "exceed_context_size_error" || type === "request_too_large" || status === 413) return true;
  return OVERFLOW.test(said.message);
}

const OVERFLOW = new RegExp(
  [
    "prompt is too long", // Anthropic
    "exceed(s|ed)? (the )?(model's )?(maximum )?context (limit|length|window|size)",
    "input length and `?max_tokens`? exceed context limit", // Anthropic
    "exceeds the maximum number of tokens", // Gemini
    "maximum (context|prompt) length", // OpenAI, vLLM, OpenRouter, DeepSeek, xAI
    "context (length|window|size) (of|is|exceed)", // LM Studio, OpenAI
    "exceeds the (available )?context (size|length|window)", // llama.cpp
    "context[_ ]length[_ ]exceeded",
    "input is too long",
    "too many (input )?tokens in",
    "reduce the length of the (messages|input|prompt)", // Groq
    "request too large for", // OpenAI and Groq, where one request is more than a minute's tokens
    "too large for model with \\d+ maximum context length", // Mistral
  ].join("|"),
  "i",
);

/** The account has nothing left: waiting a moment does not help. */
export function isOverQuota(said: Said): boolean {
  const { code, type } = errorOf(said);
  if (said.status === 402) return true;
  if ([code, type].some((word) => OVER_QUOTA.has(String(word)))) return true;
  return /credit balance is too low|usage limit reached|insufficient (balance|credits|quota)/i.test(said.message);
}

const OVER_QUOTA = new Set([
  "insufficient_quota", // OpenAI
  "usage_limit_reached",
  "usage_not_included",
  "billing_hard_limit_reached",
  "billing_error", // Anthropic
  "exceeded_current_quota_error", // Moonshot
]);

/** Gemini names the quota that was used up; some are of a day. */
export function isDaily(said: Said): boolean {
  return JSON.stringify(errorOf(said).details ?? "").includes("PerDay");
}

/** Gemini calls a wrong key a bad request. */
export function isWrongKey(said: Said): boolean {
  const { status, message } = said;
  if (status === 401 || status === 403) return true;
  return status === 400 && /api key (not valid|not found|expired)|invalid api key/i.test(message);
}

/** The status that an error in the middle of a stream would have had as an answer. */
export function typeStatus(error: object): number | undefined {
  const { type, code } = error as { readonly type?: unknown; readonly code?: unknown };
  for (const word of [code, type]) {
    const status = STATUS[String(word)];
    if (status !== undefined) return status;
  }
  return undefined;
}

const STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  usage_limit_reached: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};
