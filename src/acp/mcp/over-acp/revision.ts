/** What MCP 2026-07-28 wants around a request and its result, beside what the revisions before it had. */
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
export interface ServerIntroduction {
  readonly capabilities?: unknown;
  readonly serverInfo?: unknown;
  readonly instructions?: unknown;
}

/** Why a request is not served, if it is not. */
export function refuseCall(
  method: string,
  params: Readonly<Record<string, unknown>> | undefined,
): RpcErrorObject | undefined {
  const meta = isJsonObject(params?.["_meta"]) ? params["_meta"] : {};
  const requested = meta[META_KEYS.protocolVersion];
  if (typeof requested !== "string") return missingMeta(META_KEYS.protocolVersion);
  if (requested !== MCP_REVISION) {
    const data = { supported: [MCP_REVISION], requested };
    return { code: UNSUPPORTED_VERSION, message: `MCP ${requested} is not spoken here`, data };
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

/** What the server said itself wins. */
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
