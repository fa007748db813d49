/** Classifies error responses by their codes and messages. Some of the patterns come from documentation only. */
import { readErrorObject, type ProviderResponse } from "./retry-after.ts";

/** The conversation does not fit into the context. Sending it again does not help. */
export function isContextOverflow(response: ProviderResponse): boolean {
  const { status = 0 } = response;
  if (status === 401 || status === 403 || status === 404) return false;
  const { code, type } = readErrorObject(response);
  if (code === "context_length_exceeded" || code === "string_above_max_length") return true;
  if (type === "exceed_context_size_error" || type === "request_too_large" || status === 413) return true;
  return OVERFLOW_PATTERN.test(response.message);
}

const OVERFLOW_PATTERN = new RegExp(
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
    "request too large for", // OpenAI and Groq, if one request exceeds the tokens per minute
    "too large for model with \\d+ maximum context length", // Mistral
  ].join("|"),
  "i",
);

/** The account has no quota or credit left. A short wait does not help. */
export function isOverQuota(response: ProviderResponse): boolean {
  const { code, type } = readErrorObject(response);
  if (response.status === 402) return true;
  if ([code, type].some((word) => OVER_QUOTA_CODES.has(String(word)))) return true;
  return /credit balance is too low|usage limit reached|insufficient (balance|credits|quota)/i.test(response.message);
}

const OVER_QUOTA_CODES = new Set([
  "insufficient_quota", // OpenAI
  "usage_limit_reached",
  "usage_not_included",
  "billing_hard_limit_reached",
  "billing_error", // Anthropic
  "exceeded_current_quota_error", // Moonshot
]);

/** Gemini names the exhausted quota. Some quotas are per day. */
export function isDailyQuota(response: ProviderResponse): boolean {
  return JSON.stringify(readErrorObject(response).details ?? "").includes("PerDay");
}

/** Gemini reports a wrong key as a bad request. */
export function isWrongKey(response: ProviderResponse): boolean {
  const { status, message } = response;
  if (status === 401 || status === 403) return true;
  return status === 400 && /api key (not valid|not found|expired)|invalid api key/i.test(message);
}

/** Returns the HTTP status that corresponds to the type of an error event. */
export function streamErrorStatus(error: object): number | undefined {
  const { type, code } = error as { readonly type?: unknown; readonly code?: unknown };
  for (const word of [code, type]) {
    const status = STATUS_BY_TYPE[String(word)];
    if (status !== undefined) return status;
  }
  return undefined;
}

const STATUS_BY_TYPE: Readonly<Record<string, number>> = {
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
