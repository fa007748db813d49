// A small MCP server on stdio whose startup takes as many milliseconds as its argument says.
import { createInterface } from "node:readline";

const send = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
const tools = [{ name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } } } }];
const isReady = new Promise((resolve) => setTimeout(resolve, Number(process.argv[2] ?? 0)));

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    const serverInfo = { name: "bench", version: "1" };
    void isReady.then(() => send(id, { protocolVersion, capabilities: { tools: {} }, serverInfo }));
  } else if (method === "tools/list") send(id, { tools });
  else if (method === "tools/call") send(id, { content: [{ type: "text", text: params.arguments.text }] });
  else if (id !== undefined) send(id, {});
});
process.stdin.on("end", () => process.exit(0));
