import { appendFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ProxyOptions } from "../src/acp/index.ts";
import { agents } from "./agents/index.mjs";
import { NOTE, PROMPTS } from "./agents/model.mjs";
import { drive } from "./driven.ts";
import type { Scene } from "./scene.mjs";

/** An MCP server inside the proxy. Its only tool writes a file. */
const inProcess = ({ files }: Scene): ProxyOptions => ({
  mcpServers: [
    {
      name: "notes",
      open() {
        const server = new McpServer({ name: "notes", version: "1.0.0" });
        server.registerTool(
          "note",
          { description: "Writes a note down.", inputSchema: { text: z.string() } },
          ({ text }) => {
            appendFileSync(files.notes, `${text}\n`);
            return { content: [{ type: "text", text: `noted: ${text}` }] };
          },
        );
        return server;
      },
    },
  ],
});
const declared = ({ notesServer }: Scene): ProxyOptions => ({ mcpServers: [notesServer] });

describe.each(agents.map((recipe) => [recipe.name, recipe] as const))("%s behind a proxy", (_, recipe) => {
  it.each([
    ["in the proxy's process", inProcess],
    ["that the proxy declares", declared],
  ])("calls a tool of an MCP server %s", async (__, proxy) => {
    await using driven = await drive(recipe, { proxy });
    const { client, scene } = driven;
    const session = await client.session(scene.cwd).create();
    expect(await session.prompt(PROMPTS.mcp).finish()).toMatchObject({ stopReason: "end_turn" });
    expect(scene.notes()).toEqual([NOTE]);
  });
});
