/** What became of a request: exactly one of these, whatever the agent does. */
import { isObject } from "../object.ts";
import { quoted } from "../quote.ts";

export type Outcome =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: unknown }
  /** Answered, with neither. */
  | { readonly kind: "empty" }
  /** Not answered within the time. */
  | { readonly kind: "silence" }
  | { readonly kind: "ended"; readonly how: string };

/** Short, for a report. */
export function outcomeText(method: string, outcome: Outcome): string {
  switch (outcome.kind) {
    case "result":
      return `${method} was answered with ${quoted(outcome.result)}`;
    case "error":
      return `${method} was answered with the error ${errorText(outcome.error)}`;
    case "empty":
      return `${method} was answered without result and error`;
    case "silence":
      return `${method} was not answered`;
    case "ended":
      return `${method}: ${outcome.how}`;
  }
}

export function errorCode(outcome: Outcome): unknown {
  return outcome.kind === "error" && isObject(outcome.error) ? outcome.error["code"] : undefined;
}

/** The result where it is an object. */
export function resultOf(outcome: Outcome): Readonly<Record<string, unknown>> | undefined {
  return outcome.kind === "result" && isObject(outcome.result) ? outcome.result : undefined;
}

function errorText(error: unknown): string {
  if (!isObject(error)) return quoted(error);
  const { code, message, data } = error;
  return `${String(code)} ${quoted(message)}${data === undefined ? "" : ` ${quoted(data)}`}`;
}
