/** Parses one line of an agent as a JSON-RPC message and reports faults of its envelope. */
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
  /** Undefined if the response has none. */
  readonly id: unknown;
  /** The whole object, because a missing member and a null value are different. */
  readonly body: Readonly<Record<string, unknown>>;
}

export type AgentMessage = AgentRequest | AgentNotification | AgentResponse;

export interface ParsedLine {
  /** Set even if the line has a fault, as long as its meaning is clear, so that one fault is reported once. */
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
  if (!isJsonObject(value)) return { fault: `a line that is not a JSON object: ${quoteJson(value)}` };
  const message = toAgentMessage(value);
  if (message === undefined)
    return { fault: `a message that is neither a request, a notification nor a response: ${quoteJson(value)}` };
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
