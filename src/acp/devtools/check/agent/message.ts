/** One line of an agent as a message of JSON-RPC, with what is wrong with its outer form. */
import { isJsonObject } from "../../../wire/json-object.ts";
import { quoteJson } from "../quote.ts";

export type CheckRequestId = string | number;

export interface AgentRequest {
  readonly kind: "request";
  readonly id: unknown;
  readonly method: string;
  readonly params: unknown;
}

export interface AgentNotification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: unknown;
}

export interface AgentResponse {
  readonly kind: "response";
  /** Undefined where there is none. */
  readonly id: unknown;
  /** The whole object, because having a member and its value being null are different. */
  readonly body: Readonly<Record<string, unknown>>;
}

export type AgentMessage = AgentRequest | AgentNotification | AgentResponse;

export interface ParsedLine {
  /** Also of a line with a fault where it is clear what was meant, so that one fault is told once. */
  readonly message?: AgentMessage;
  readonly fault?: string;
}

export function parseAgentLine(line: string): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { fault: line.trim() === "" ? "an empty line" : `a line that is not JSON: ${quoteJson(line)}` };
  }
  if (!isJsonObject(value)) return { fault: `a line that is no object: ${quoteJson(value)}` };
  const message = toAgentMessage(value);
  if (message === undefined) return { fault: `neither request, notification nor response: ${quoteJson(value)}` };
  if (value["jsonrpc"] !== "2.0") return { message, fault: `a message without "jsonrpc":"2.0": ${quoteJson(value)}` };
  return { message };
}

function toAgentMessage(body: Readonly<Record<string, unknown>>): AgentMessage | undefined {
  const { id, method, params } = body;
  if (typeof method === "string") {
    return "id" in body ? { kind: "request", id, method, params } : { kind: "notification", method, params };
  }
  return "result" in body || "error" in body || "id" in body ? { kind: "response", id, body } : undefined;
}
