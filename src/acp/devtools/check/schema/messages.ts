/** Validates an agent's messages against the protocol's schema. */
import { quoteJson } from "../quote.ts";
import { compileDefinitions } from "./validator.ts";
import type { SchemaCheck } from "./violation.ts";

export interface AgentMessageChecks {
  /** Checks the result of a client's request. Undefined if the result is valid. */
  result(method: string, result: unknown): string | undefined;
  error(error: unknown): string | undefined;
  request(method: string, params: unknown): string | undefined;
  notification(method: string, params: unknown): string | undefined;
}

type Methods = Readonly<Record<string, string>>;

/** Loaded on demand, because only a check run needs the schema table. */
export async function loadAgentMessageChecks(): Promise<AgentMessageChecks> {
  const { agentMessageTable } = await import("./generated/agent-messages.ts");
  const checks = compileDefinitions(agentMessageTable.$defs);
  const called = (methods: Methods, kind: string) => (method: string, params: unknown) => {
    if (method.startsWith("_")) return undefined;
    const name = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (name === undefined) return `${quoteJson(method)} is not a ${kind} of the protocol`;
    return formatViolation(checks.get(name), params, "params", method);
  };
  return {
    result: (method, result) => {
      const methods: Methods = agentMessageTable.results;
      const name = Object.hasOwn(methods, method) ? methods[method] : undefined;
      return name === undefined ? undefined : formatViolation(checks.get(name), result, "result", method);
    },
    error: (error) => formatViolation(checks.get("Error"), error, "error", "a response"),
    request: called(agentMessageTable.requests, "request"),
    notification: called(agentMessageTable.notifications, "notification"),
  };
}

function formatViolation(
  check: SchemaCheck | undefined,
  value: unknown,
  root: string,
  subject: string,
): string | undefined {
  const violation = check?.(value, root);
  if (violation === undefined) return undefined;
  const got = violation.got === undefined ? "nothing" : quoteJson(violation.got);
  return `${subject}: ${violation.path} must be ${violation.expected}, is ${got}`;
}
