/** What MCP 2026-07-28 wants around a request and its result, beside what the revisions before it had. */
import { RPC } from "../../errors.ts";
import type { RpcErrorObject } from "../../wire/message.ts";
import { isObject } from "./envelope.ts";

export const REVISION = "2026-07-28";

export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  logLevel: "io.modelcontextprotocol/logLevel",
} as const;

const UNSUPPORTED_VERSION = -32022;

/** Gone with the connection that they were about. */
const REMOVED = new Set(["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);

/** Their results say how long they may be kept; a server of an older revision does not know, so: not at all. */
const CACHEABLE = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

/** The answer to `initialize`. */
export interface Introduction {
  readonly capabilities?: unknown;
  readonly serverInfo?: unknown;
  readonly instructions?: unknown;
}

/** Why a request is not served, if it is not. */
export function refusal(
  method: string,
  params: Readonly<Record<string, unknown>> | undefined,
): RpcErrorObject | undefined {
  const meta = isObject(params?.["_meta"]) ? params["_meta"] : {};
  const requested = meta[META.protocolVersion];
  if (typeof requested !== "string") return lacking(META.protocolVersion);
  if (requested !== REVISION) {
    const data = { supported: [REVISION], requested };
    return { code: UNSUPPORTED_VERSION, message: `MCP ${requested} is not spoken here`, data };
  }
  if (!isObject(meta[META.clientCapabilities])) return lacking(META.clientCapabilities);
  if (!REMOVED.has(method) && !method.startsWith("notifications/")) return undefined;
  return { code: RPC.methodNotFound, message: `there is no method ${method} in MCP ${REVISION}` };
}

export function discovered({ capabilities, instructions, ...rest }: Introduction): unknown {
  const result = {
    supportedVersions: [REVISION],
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(typeof instructions === "string" && { instructions }),
  };
  return complete("server/discover", result, rest);
}

/** What the server said itself wins. */
export function complete(method: string, result: unknown, { serverInfo }: Introduction): unknown {
  if (!isObject(result)) return result;
  const meta = {
    ...(serverInfo !== undefined && { [META.serverInfo]: serverInfo }),
    ...(result["_meta"] as object | undefined),
  };
  return {
    resultType: "complete",
    ...(CACHEABLE.has(method) && { ttlMs: 0, cacheScope: "private" }),
    ...result,
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

function lacking(key: string): RpcErrorObject {
  return { code: RPC.invalidParams, message: `params._meta has no ${key}` };
}
