/** The client's answers to requests of the agent under test. It grants permissions and offers nothing else. */
import { isJsonObject } from "../../../wire/json-object.ts";
import type { AgentRequest } from "./message.ts";

export type ClientReply =
  { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } };

const PERMISSION = "session/request_permission";

/** Selects `allow_once` if the agent offers it. */
export function defaultReply(request: AgentRequest): ClientReply {
  if (request.method !== PERMISSION) return methodNotOffered(request);
  const options = isJsonObject(request.params) ? request.params["options"] : undefined;
  const offered = Array.isArray(options) ? options.filter(isJsonObject) : [];
  const chosen =
    offered.find(({ kind }) => kind === "allow_once") ??
    offered.find(({ kind }) => kind === "allow_always") ??
    offered[0];
  if (chosen === undefined) return { result: { outcome: { outcome: "cancelled" } } };
  return { result: { outcome: { outcome: "selected", optionId: chosen["optionId"] } } };
}

/** The answers after the client has cancelled the turn. */
export function cancelledReply(request: AgentRequest): ClientReply {
  return request.method === PERMISSION ? { result: { outcome: { outcome: "cancelled" } } } : methodNotOffered(request);
}

function methodNotOffered({ method }: AgentRequest): ClientReply {
  return { error: { code: -32601, message: `the client does not offer ${method}` } };
}
