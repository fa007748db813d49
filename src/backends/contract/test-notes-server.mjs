// An MCP server on stdio whose only tool appends to a file, which proves that it was called.
import { appendFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("usage: test-notes-server.mjs FILE");

const server = new McpServer({ name: "notes", version: "1.0.0" });
server.registerTool("note", { description: "Writes a note down.", inputSchema: { text: z.string() } }, ({ text }) => {
  appendFileSync(file, `${text}\n`);
  return { content: [{ type: "text", text: `noted: ${text}` }] };
});
await server.connect(new StdioServerTransport());
