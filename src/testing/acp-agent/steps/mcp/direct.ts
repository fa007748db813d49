/** Calls MCP servers that the agent connects to directly, over stdio or HTTP. Loaded only if a script uses one. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { isObject, toObject, requireString, type JsonObject } from "../../rpc.ts";
import type { McpCall } from "./call.ts";

const TIMEOUT_MS = 30_000;

/** Opens a connection for one call. */
export async function callDirectServer(server: JsonObject, call: McpCall, signal: AbortSignal): Promise<JsonObject> {
  const client = new Client({ name: "scripted-agent", version: "1.0.0" });
  const options = { signal, timeout: TIMEOUT_MS };
  try {
    await client.connect(openTransport(server), options);
    const { tool, arguments: given } = call;
    const result =
      tool === undefined
        ? await client.listTools({}, options)
        : await client.callTool({ name: tool, arguments: { ...given } }, undefined, options);
    return toObject(result);
  } finally {
    await client.close();
  }
}

function openTransport(server: JsonObject): Transport {
  const { type, args } = server;
  if (type === "http") {
    const requestInit = { headers: toRecord(server["headers"]) };
    return new StreamableHTTPClientTransport(new URL(requireString(server, "url")), { requestInit });
  }
  if (type !== undefined && type !== "stdio")
    throw new Error(`the scripted agent does not support MCP servers of type ${JSON.stringify(type)}`);
  return new StdioClientTransport({
    command: requireString(server, "command"),
    args: Array.isArray(args) ? args.map(String) : [],
    env: { ...getDefaultEnvironment(), ...toRecord(server["env"]) },
    stderr: "ignore",
  });
}

/** ACP sends variables and headers as a list of names and values. */
function toRecord(list: unknown): Record<string, string> {
  const pairs = Array.isArray(list) ? list.filter(isObject) : [];
  return Object.fromEntries(pairs.map(({ name, value }) => [String(name), String(value)]));
}
