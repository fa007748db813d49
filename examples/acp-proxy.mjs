// A proxy on stdio that gives any ACP agent one more tool and an instruction: node acp-proxy.mjs COMMAND ARGS…
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { openProxy, startAgent, streamTransport } from "rookery/acp";

const agent = await startAgent({ command: process.argv.slice(2), cwd: process.cwd(), env: process.env });

const clock = {
  name: "clock",
  open() {
    const server = new McpServer({ name: "clock", version: "1.0.0" });
    server.registerTool("now", { description: "Tells the time." }, () => ({
      content: [{ type: "text", text: `it is ${new Date().toISOString()}` }],
    }));
    return server;
  },
};

const proxy = openProxy(
  { transport: streamTransport(process.stdin, process.stdout) },
  { transport: agent.transport, exit: () => agent.exit() },
  {
    mcpServers: [clock],
    prompt: (request) => ({
      ...request,
      prompt: [...request.prompt, { type: "text", text: "The clock tool knows the time." }],
    }),
  },
);
await proxy.closed;
await agent.close();
