// Calls a tool of the MCP server that a program was given, wherever it was told of it.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const URLS = /http:\/\/127\.0\.0\.1:\d+\/mcp\/\d+/g;
/** A person may have to allow it first. */
const PATIENCE = { timeout: 60_000 };

/** `told` is all that the program was told: its arguments, its environment, its settings and its input. */
export async function callTool({ tool, input }, told) {
  const url = told.flatMap((text) => text.match(URLS) ?? []).at(-1);
  if (url === undefined) throw new Error("the program was told of no MCP server");
  for (const token of tokensIn(told)) {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(url, { method: "GET", headers });
    await response.body?.cancel();
    if (response.status === 401) continue; // not this server's
    const client = new Client({ name: "stand-in", version: "0.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    await client.callTool({ name: tool, arguments: input }, undefined, PATIENCE);
    return client.close();
  }
  throw new Error(`the program was told no token for ${url}`);
}

function tokensIn(texts) {
  const named = texts.flatMap((text) => [...text.matchAll(/Bearer ([\w-]{20,})/g)].map(([, token]) => token));
  const bare = texts.flatMap((text) => /^\w+=([\w-]{43})$/.exec(text)?.[1] ?? []);
  return new Set([...named, ...bare]);
}
