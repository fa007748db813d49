/** Shared by the two OpenAI wires: the key, the headers, the errors and the parsing of arguments. */

import type { IncomingHttpHeaders } from "node:http";
import { formatWireId, type ModelExchange, type WireError, type WireFailure } from "./wire.ts";

export function openaiKey(headers: IncomingHttpHeaders): string | undefined {
  return headers.authorization?.replace(/^Bearer /i, "");
}

/** Parses the arguments of a call. Returns the text itself if it is not valid JSON. */
export function parseArguments(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

export function openaiHeaders(
  kind: "json" | "stream",
  { number }: Pick<ModelExchange, "number">,
): Record<string, string> {
  return {
    "content-type": kind === "stream" ? "text/event-stream; charset=utf-8" : "application/json",
    "openai-organization": "rookery-test",
    "openai-processing-ms": "1",
    "openai-version": "2020-10-01",
    "x-request-id": formatWireId("req", number),
  };
}

export function openaiFailure(failure: WireError): WireFailure {
  const error = { message: failure.message ?? "", type: "invalid_request_error", param: null, code: null };
  const known = ERRORS[failure.status]?.(failure.model ?? "") ?? (failure.status >= 500 ? SERVER_ERROR : {});
  const message = failure.message === undefined ? {} : { message: failure.message };
  const why = errorFields(failure);
  return {
    status: failure.status,
    body: JSON.stringify({ error: { ...error, ...known, ...why, ...message } }, null, 2),
  };
}

function errorFields({ why, resetsAt }: WireError): object {
  if (why === "overflow") {
    return { message: "Your input exceeds the context window of this model.", code: "context_length_exceeded" };
  }
  if (why !== "quota") return {};
  if (resetsAt === undefined) {
    return { message: "You exceeded your current quota.", type: "insufficient_quota", code: "insufficient_quota" };
  }
  const resets_at = Math.floor(resetsAt.getTime() / 1000);
  return { message: "The usage limit has been reached", type: "usage_limit_reached", code: null, resets_at };
}

/** The error of a stream that fails after it started. */
export const SERVER_ERROR = {
  message: "The server had an error while processing your request. Sorry about that!",
  type: "server_error",
} as const;

/** Unlike the real API, the 401 does not repeat a part of the key. */
const ERRORS: Record<number, (model: string) => object> = {
  401: () => ({
    message:
      "Incorrect API key provided: ****. You can find your API key at https://platform.openai.com/account/api-keys.",
    code: "invalid_api_key",
  }),
  404: (model) => ({
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    code: "model_not_found",
  }),
  413: () => ({ message: "Request body too large" }),
  429: (model) => ({
    message: `Rate limit reached for ${model} in organization rookery-test on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.`,
    type: "requests",
    code: "rate_limit_exceeded",
  }),
  503: () => ({ message: "The engine is currently overloaded, please try again later", type: "server_error" }),
};
