/** MCP servers that the agent connects to by itself: programs and addresses. Loaded only when a script uses one. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { isObject, objectOr, textIn } from "../../rpc.ts";
import type { JsonObject } from "../../script.ts";
import type { McpCall } from "./index.ts";

const TIMEOUT_MS = 30_000;

/** One connection for one call. */
export async function callConnected(server: JsonObject, call: McpCall, signal: AbortSignal): Promise<JsonObject> {
  const client = new Client({ name: "scripted-agent", version: "1.0.0" });
  const options = { signal, timeout: TIMEOUT_MS };
  try {
    await client.connect(transportTo(server), options);
    const { tool, arguments: given } = call;
    const result =
      tool === undefined
        ? await client.listTools({}, options)
        : await client.callTool({ name: tool, arguments: { ...given } }, undefined, options);
    return objectOr(result);
  } finally {
    await client.close();
  }
}

function transportTo(server: JsonObject): Transport {
  const { type, args } = server;
  if (type === "http") {
    const requestInit = { headers: pairsIn(server["headers"]) };
    return new StreamableHTTPClientTransport(new URL(textIn(server, "url")), { requestInit });
  }
  if (type !== undefined && type !== "stdio")
    throw new Error(`servers of type ${JSON.stringify(type)} are not reached`);
  return new StdioClientTransport({
    command: textIn(server, "command"),
    args: Array.isArray(args) ? args.map(String) : [],
    env: { ...getDefaultEnvironment(), ...pairsIn(server["env"]) },
    stderr: "ignore",
  });
}

/** ACP writes variables and headers as a list of names and values. */
function pairsIn(list: unknown): Record<string, string> {
  const pairs = Array.isArray(list) ? list.filter(isObject) : [];
  return Object.fromEntries(pairs.map(({ name, value }) => [String(name), String(value)]));
}
