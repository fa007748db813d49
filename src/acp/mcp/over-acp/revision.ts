/** What MCP 2026-07-28 requires of a request and its result beyond earlier revisions. */
import { RPC } from "../../errors.ts";
import type { RpcErrorObject } from "../../wire/message.ts";
import { isJsonObject } from "../../wire/json-object.ts";

export const MCP_REVISION = "2026-07-28";

export const META_KEYS = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  logLevel: "io.modelcontextprotocol/logLevel",
} as const;

const UNSUPPORTED_VERSION = -32022;

/** Removed from MCP together with connections. */
const REMOVED = new Set(["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);

/** Results of these methods have a time to live. Servers of older revisions do not know it, so it is 0. */
const CACHEABLE = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

/** The server's `initialize` result. */
export interface ServerIntroduction {
  readonly capabilities?: unknown;
  readonly serverInfo?: unknown;
  readonly instructions?: unknown;
}

/** Returns an error if the request is not valid in this revision. */
export function refuseCall(
  method: string,
  params: Readonly<Record<string, unknown>> | undefined,
): RpcErrorObject | undefined {
  const meta = isJsonObject(params?.["_meta"]) ? params["_meta"] : {};
  const requested = meta[META_KEYS.protocolVersion];
  if (typeof requested !== "string") return missingMeta(META_KEYS.protocolVersion);
  if (requested !== MCP_REVISION) {
    const data = { supported: [MCP_REVISION], requested };
    return { code: UNSUPPORTED_VERSION, message: `MCP ${requested} is not supported`, data };
  }
  if (!isJsonObject(meta[META_KEYS.clientCapabilities])) return missingMeta(META_KEYS.clientCapabilities);
  if (!REMOVED.has(method) && !method.startsWith("notifications/")) return undefined;
  return { code: RPC.methodNotFound, message: `there is no method ${method} in MCP ${MCP_REVISION}` };
}

export function toDiscoverResult({ capabilities, instructions, ...rest }: ServerIntroduction): unknown {
  const result = {
    supportedVersions: [MCP_REVISION],
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    ...(typeof instructions === "string" && { instructions }),
  };
  return toCompleteResult("server/discover", result, rest);
}

/** Adds the required fields. Fields that the server set take precedence. */
export function toCompleteResult(method: string, result: unknown, { serverInfo }: ServerIntroduction): unknown {
  if (!isJsonObject(result)) return result;
  const meta = {
    ...(serverInfo !== undefined && { [META_KEYS.serverInfo]: serverInfo }),
    ...(result["_meta"] as object | undefined),
  };
  return {
    resultType: "complete",
    ...(CACHEABLE.has(method) && { ttlMs: 0, cacheScope: "private" }),
    ...result,
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

function missingMeta(key: string): RpcErrorObject {
  return { code: RPC.invalidParams, message: `params._meta has no ${key}` };
}
