/** Says what is wrong with a message of an agent, by the protocol's own schema. */
import { quoted } from "../quote.ts";
import { compile } from "./validator.ts";
import type { Check } from "./violation.ts";

export interface AgentMessages {
  /** Of the answer to a method of the client; undefined where nothing is wrong. */
  result(method: string, result: unknown): string | undefined;
  error(error: unknown): string | undefined;
  request(method: string, params: unknown): string | undefined;
  notification(method: string, params: unknown): string | undefined;
}

type Methods = Readonly<Record<string, string>>;

/** Read when a check runs and not before: everybody else starts without it. */
export async function loadAgentMessages(): Promise<AgentMessages> {
  const { table } = await import("./agent-messages.ts");
  const checks = compile(table.$defs);
  const called = (methods: Methods, kind: string) => (method: string, params: unknown) => {
    if (method.startsWith("_")) return undefined;
    const name = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (name === undefined) return `${quoted(method)} is no ${kind} of the protocol`;
    return violationText(checks.get(name), params, "params", method);
  };
  return {
    result: (method, result) => {
      const methods: Methods = table.results;
      const name = Object.hasOwn(methods, method) ? methods[method] : undefined;
      return name === undefined ? undefined : violationText(checks.get(name), result, "result", method);
    },
    error: (error) => violationText(checks.get("Error"), error, "error", "a response"),
    request: called(table.requests, "request"),
    notification: called(table.notifications, "notification"),
  };
}

function violationText(check: Check | undefined, value: unknown, root: string, subject: string): string | undefined {
  const violation = check?.(value, root);
  if (violation === undefined) return undefined;
  const got = violation.got === undefined ? "nothing" : quoted(violation.got);
  return `${subject}: ${violation.path} must be ${violation.expected}, is ${got}`;
}
