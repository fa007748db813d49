/** The result of a request. Every request has exactly one outcome. */
import { isJsonObject } from "../../../wire/json-object.ts";
import { quoteJson } from "../quote.ts";

export type RequestOutcome =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: unknown }
  /** Answered with neither a result nor an error. */
  | { readonly kind: "empty" }
  /** Not answered before the timeout. */
  | { readonly kind: "silence" }
  | { readonly kind: "ended"; readonly how: string };

/** One line for a report. */
export function formatOutcome(method: string, outcome: RequestOutcome): string {
  switch (outcome.kind) {
    case "result":
      return `${method} was answered with ${quoteJson(outcome.result)}`;
    case "error":
      return `${method} was answered with the error ${formatErrorObject(outcome.error)}`;
    case "empty":
      return `${method} was answered with neither a result nor an error`;
    case "silence":
      return `${method} was not answered`;
    case "ended":
      return `${method}: ${outcome.how}`;
  }
}

export function getErrorCode(outcome: RequestOutcome): unknown {
  return outcome.kind === "error" && isJsonObject(outcome.error) ? outcome.error["code"] : undefined;
}

/** Returns the result if it is an object. */
export function getResultObject(outcome: RequestOutcome): Readonly<Record<string, unknown>> | undefined {
  return outcome.kind === "result" && isJsonObject(outcome.result) ? outcome.result : undefined;
}

function formatErrorObject(error: unknown): string {
  if (!isJsonObject(error)) return quoteJson(error);
  const { code, message, data } = error;
  return `${String(code)} ${quoteJson(message)}${data === undefined ? "" : ` ${quoteJson(data)}`}`;
}
