/** The envelopes that carry MCP over ACP: the official one, and earlier ones of the Rust SDK. */
import { isJsonObject } from "../../wire/json-object.ts";

/**
 * `official` (schema of ACP 2.4, unstable): `{type: "acp", serverId}`, and each `mcp/message` is self-contained. `rust`
 * (its SDK until 0.13): `{type: "http", url: "acp:…"}` with `_mcp/connect`, `_mcp/message` and `_mcp/disconnect`. A
 * version in between used `mcp/connect` with the official declaration. All of them are accepted.
 */
export type McpDialect = "official" | "rust";

/** Error codes of the binding itself. An MCP error travels inside a successful answer. */
export const BINDING_ERRORS = { limit: -33000, unavailable: -33001, failed: -33002 } as const;

export type Envelope =
  | { readonly kind: "call"; readonly serverId: string; readonly requestId: string; readonly inner: InnerMessage }
  | { readonly kind: "connect"; readonly serverId: string; readonly underscored: boolean }
  | { readonly kind: "message"; readonly connectionId: string; readonly inner: InnerMessage }
  | { readonly kind: "disconnect"; readonly connectionId: string };

export interface InnerMessage {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> | undefined;
}

const KINDS: Readonly<Record<string, Envelope["kind"]>> = {
  "mcp/connect": "connect",
  "_mcp/connect": "connect",
  "mcp/message": "message",
  "_mcp/message": "message",
  "_mcp/request": "message",
  "_mcp/notification": "message",
  "mcp/disconnect": "disconnect",
  "_mcp/disconnect": "disconnect",
};

export function isMcpMethod(method: string): boolean {
  return Object.hasOwn(KINDS, method);
}

/** Undefined if it is not an envelope or lacks a required field. */
export function openEnvelope(method: string, params: unknown): Envelope | undefined {
  if (!isMcpMethod(method) || !isJsonObject(params)) return undefined;
  const kind = KINDS[method];
  if (kind === "connect") {
    const serverId = findString(params, "serverId", "acpId", "acp_id", "acp_url");
    return serverId === undefined ? undefined : { kind, serverId, underscored: method.startsWith("_") };
  }
  const connectionId = findString(params, "connectionId", "connection_id");
  if (kind === "disconnect") return connectionId === undefined ? undefined : { kind, connectionId };
  const inner = readInnerMessage(params);
  if (inner === undefined) return undefined;
  if (connectionId !== undefined) return { kind: "message", connectionId, inner };
  const [serverId, requestId] = [findString(params, "serverId"), findString(params, "requestId")];
  if (serverId === undefined || requestId === undefined) return undefined;
  return { kind: "call", serverId, requestId, inner };
}

function readInnerMessage({ method, params }: Readonly<Record<string, unknown>>): InnerMessage | undefined {
  if (typeof method !== "string") return undefined;
  if (params === undefined || params === null) return { method, params: undefined };
  return isJsonObject(params) ? { method, params } : undefined;
}

function findString(params: Readonly<Record<string, unknown>>, ...keys: string[]): string | undefined {
  return keys.map((key) => params[key]).find((value) => typeof value === "string");
}
