import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readAcpRecord, writeAcpAgent } from "../../testing/index.ts";
import { openDesk } from "./test-scene.ts";

const NOTES = { name: "notes", command: "notes-server", args: ["--here"], env: [{ name: "A", value: "1" }] };

it("gives an agent that speaks ACP the MCP servers that the editor brings", async () => {
  await using desk = await openDesk([]);
  const { command, record } = await writeAcpAgent(desk.folder, { otherwise: [{ say: "hi" }] });
  const config = join(String((desk.env as Record<string, string>)["XDG_CONFIG_HOME"]), "rookery");
  await mkdir(config, { recursive: true });
  await writeFile(join(config, "rookery.toml"), `[agents.it]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}\n`);
  const editor = await desk.editor({ agent: "it" });
  const session = await editor.client.session(desk.folder).mcpServer(NOTES).create();
  expect(await session.prompt("x").readText()).toBe("hi");
  expect(JSON.stringify(await readAcpRecord(record))).toContain(JSON.stringify(NOTES));
  expect(editor.failures).toEqual([]);
});

