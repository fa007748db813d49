/** Calls MCP servers over the ACP connection, in the three dialects that exist. */

import { RPC_ERROR, isObject, toObject, RpcFailure, requireString, type JsonObject } from "../../rpc.ts";
import type { StepContext } from "../../step-context.ts";
import type { AcpMcpStep } from "../steps.ts";
import type { McpCall } from "./call.ts";

const ME = { name: "scripted-agent", version: "1.0.0" };
const STATEFUL_REVISION = "2025-06-18";
/** The official SDK 2.4.0 rejects a stateless request without all of these. */
const STATELESS_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": ME,
};

let requests = 0;

export async function callOverAcp(
  server: JsonObject,
  call: McpCall,
  dialect: AcpMcpStep["dialect"] = server["type"] === "acp" ? "stateless" : "underscored",
  context: StepContext,
): Promise<JsonObject> {
  const [method, params] = innerCall(call);
  if (dialect === "stateless") return stateless(requireString(server, "serverId"), method, params, context);
  const connection =
    dialect === "stateful" ? await connect(server, context) : await connectUnderscored(server, context);
  try {
    await connection.request("initialize", { protocolVersion: STATEFUL_REVISION, capabilities: {}, clientInfo: ME });
    await connection.notify("notifications/initialized");
    return await connection.request(method, params);
  } finally {
    await connection.disconnect();
  }
}

interface Connection {
  request(method: string, params: JsonObject): Promise<JsonObject>;
  notify(method: string): Promise<void>;
  disconnect(): Promise<void>;
}

function innerCall({ tool, arguments: given }: McpCall): [method: string, params: JsonObject] {
  return tool === undefined ? ["tools/list", {}] : ["tools/call", { name: tool, arguments: given }];
}

/** The result of the outer request contains the inner result or error. */
async function stateless(
  serverId: string,
  method: string,
  params: JsonObject,
  context: StepContext,
): Promise<JsonObject> {
  const inner = { ...params, _meta: STATELESS_META };
  const asked = { serverId, requestId: `mcp-${++requests}`, method, params: inner };
  const { result, error } = await outer(context, "mcp/message", asked);
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return toObject(result);
}

/** The result of the outer request is the inner result. */
async function connect(server: JsonObject, context: StepContext): Promise<Connection> {
  const serverId = requireString(server, "serverId");
  const connectionId = requireString(await outer(context, "mcp/connect", { serverId }), "connectionId");
  return {
    request: (method, params) => outer(context, "mcp/message", { connectionId, method, params }),
    notify: (method) => context.agent.client.notify("mcp/message", { connectionId, method }),
    async disconnect() {
      await outer(context, "mcp/disconnect", { connectionId });
    },
  };
}

/** The dialect of the Rust SDK's conductor, which mixes `connection_id` and `connectionId`. */
async function connectUnderscored(server: JsonObject, context: StepContext): Promise<Connection> {
  const { client } = context.agent;
  const acpId = requireString(server, typeof server["url"] === "string" ? "url" : "serverId");
  const connectionId = requireString(await outer(context, "_mcp/connect", { acp_id: acpId }), "connection_id");
  return {
    request: (method, params) => outer(context, "_mcp/message", { connectionId, method, params }),
    notify: (method) => client.notify("_mcp/message", { connectionId, method }),
    disconnect: () => client.notify("_mcp/disconnect", { connection_id: connectionId }),
  };
}

async function outer({ agent, waitSignal }: StepContext, method: string, params: JsonObject): Promise<JsonObject> {
  const reply = await agent.client.request(method, params, waitSignal);
  if ("error" in reply) throw new Error(JSON.stringify(reply.error));
  if (!isObject(reply.result))
    throw new RpcFailure(RPC_ERROR.invalidParams, `${method} returned ${JSON.stringify(reply.result)}`);
  return reply.result;
}
