/** MCP over the ACP connection itself, in the three dialects that are spoken. */

import { CODE, isObject, objectOr, Refusal, textIn } from "../../rpc.ts";
import type { Scene } from "../../scene.ts";
import type { JsonObject } from "../../script.ts";
import type { McpStep } from "../steps.ts";
import type { McpCall } from "./index.ts";

const ME = { name: "scripted-agent", version: "1.0.0" };
const STATEFUL_REVISION = "2025-06-18";
/** The official SDK 2.4.0 refuses a stateless request that does not say all of this. */
const STATELESS_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": ME,
};

let requests = 0;

export async function callOverAcp(
  server: JsonObject,
  call: McpCall,
  dialect: McpStep["dialect"] = server["type"] === "acp" ? "stateless" : "underscored",
  scene: Scene,
): Promise<JsonObject> {
  const [method, params] = innerCall(call);
  if (dialect === "stateless") return stateless(textIn(server, "serverId"), method, params, scene);
  const connection = dialect === "stateful" ? await connect(server, scene) : await connectUnderscored(server, scene);
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

/** The inner outcome lies inside a successful outer one. */
async function stateless(serverId: string, method: string, params: JsonObject, scene: Scene): Promise<JsonObject> {
  const inner = { ...params, _meta: STATELESS_META };
  const asked = { serverId, requestId: `mcp-${++requests}`, method, params: inner };
  const { result, error } = await outer(scene, "mcp/message", asked);
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return objectOr(result);
}

/** The outer outcome is the inner one. */
async function connect(server: JsonObject, scene: Scene): Promise<Connection> {
  const serverId = textIn(server, "serverId");
  const connectionId = textIn(await outer(scene, "mcp/connect", { serverId }), "connectionId");
  return {
    request: (method, params) => outer(scene, "mcp/message", { connectionId, method, params }),
    notify: (method) => scene.stage.client.notify("mcp/message", { connectionId, method }),
    async disconnect() {
      await outer(scene, "mcp/disconnect", { connectionId });
    },
  };
}

/** As the Rust SDK's conductor has it, down to the field that is written differently from the others. */
async function connectUnderscored(server: JsonObject, scene: Scene): Promise<Connection> {
  const { client } = scene.stage;
  const acpId = textIn(server, typeof server["url"] === "string" ? "url" : "serverId");
  const connectionId = textIn(await outer(scene, "_mcp/connect", { acp_id: acpId }), "connection_id");
  return {
    request: (method, params) => outer(scene, "_mcp/message", { connectionId, method, params }),
    notify: (method) => client.notify("_mcp/message", { connectionId, method }),
    disconnect: () => client.notify("_mcp/disconnect", { connection_id: connectionId }),
  };
}

async function outer({ stage, waiting }: Scene, method: string, params: JsonObject): Promise<JsonObject> {
  const reply = await stage.client.request(method, params, waiting);
  if ("error" in reply) throw new Error(JSON.stringify(reply.error));
  if (!isObject(reply.result)) throw new Refusal(CODE.invalidParams, `${method} gave ${JSON.stringify(reply.result)}`);
  return reply.result;
}
