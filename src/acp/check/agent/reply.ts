/** What the runner answers to requests of an agent: it serves permissions and nothing else. */
import { isObject } from "../object.ts";
import type { AgentRequest } from "./message.ts";

export type Reply =
  { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } };

const PERMISSION = "session/request_permission";

/** Allows, once where that is offered. */
export function usualReply(request: AgentRequest): Reply {
  if (request.method !== PERMISSION) return notServed(request);
  const options = isObject(request.params) ? request.params["options"] : undefined;
  const offered = Array.isArray(options) ? options.filter(isObject) : [];
  const chosen =
    offered.find(({ kind }) => kind === "allow_once") ??
    offered.find(({ kind }) => kind === "allow_always") ??
    offered[0];
  if (chosen === undefined) return { result: { outcome: { outcome: "cancelled" } } };
  return { result: { outcome: { outcome: "selected", optionId: chosen["optionId"] } } };
}

/** What a client answers once it has cancelled the turn. */
export function cancellingReply(request: AgentRequest): Reply {
  return request.method === PERMISSION ? { result: { outcome: { outcome: "cancelled" } } } : notServed(request);
}

function notServed({ method }: AgentRequest): Reply {
  return { error: { code: -32601, message: `the client does not offer ${method}` } };
}
