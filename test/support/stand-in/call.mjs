// Calls a tool of the MCP server that a program got in its arguments, environment, settings or input.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const URLS = /http:\/\/127\.0\.0\.1:\d+\/mcp\/\d+/g;
/** Long enough for a person to answer a permission request. */
const PATIENCE = { timeout: 60_000 };

/** `told` contains everything that the program received: arguments, environment, settings and input. */
export async function callTool({ tool, input }, told) {
  const url = told.flatMap((text) => text.match(URLS) ?? []).at(-1);
  if (url === undefined) throw new Error("the program received no MCP server");
  for (const token of tokensIn(told)) {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(url, { method: "GET", headers });
    await response.body?.cancel();
    if (response.status === 401) continue; // the token of another server
    const client = new Client({ name: "stand-in", version: "0.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    await client.callTool({ name: tool, arguments: input }, undefined, PATIENCE);
    return client.close();
  }
  throw new Error(`the program received no token for ${url}`);
}

function tokensIn(texts) {
  const named = texts.flatMap((text) => [...text.matchAll(/Bearer ([\w-]{20,})/g)].map(([, token]) => token));
  const bare = texts.flatMap((text) => /^\w+=([\w-]{43})$/.exec(text)?.[1] ?? []);
  return new Set([...named, ...bare]);
}
