import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scriptedServer } from "../../mcp/test-servers.ts";
import { call, readAcpRecord, say, writeAcpAgent } from "../../testing/index.ts";
import { openDesk, updated } from "./test-scene.ts";

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

const { command, args } = scriptedServer("notes");
const WORKING = { name: "notes", command, args: [...args], env: [] };

it("gives them to the built-in agent as well, behind the editor's permissions", async () => {
  await using desk = await openDesk(({ toolResults }) =>
    toolResults.length === 0 ? call("notes__echo", { text: "hi there" }) : say(`It says ${toolResults[0]?.content}.`),
  );
  const asked: string[] = [];
  const permission = ({ toolCall }: { toolCall: { title?: string | null } }) => {
    asked.push(toolCall.title ?? "");
    return { outcome: { outcome: "selected" as const, optionId: "allow" } };
  };
  const editor = await desk.editor({ serve: { permission } });
  const session = await editor.client.session(desk.folder).mcpServer(WORKING).create();
  expect(await session.prompt("go").readText()).toBe("It says hi there.");
  expect(asked).toHaveLength(1);
});

it("offers the prompts of servers as commands, and a turn begins with what they say", async () => {
  await using desk = await openDesk([say("Reviewed.")]);
  const editor = await desk.editor();
  const session = await editor.client.session(desk.folder).mcpServer(WORKING).create();
  const { params } = await editor.came(
    (message) => updated("available_commands_update")(message) && JSON.stringify(message).includes("notes:review"),
  );
  expect(params).toMatchObject({
    update: {
      availableCommands: expect.arrayContaining([
        { name: "notes:review", description: "Reviews", input: { hint: "file=…" } },
      ]) as unknown,
    },
  });
  expect(await session.prompt("/notes:review src/a.ts").readText()).toBe("Reviewed.");
  expect(desk.model.requests[0]?.lastUserText).toBe("Review src/a.ts");
});

it("tells the commands anew when another agent has other servers", async () => {
  await using desk = await openDesk([]);
  const config = join(String((desk.env as Record<string, string>)["XDG_CONFIG_HOME"]), "rookery");
  await mkdir(config, { recursive: true });
  await writeFile(
    join(config, "rookery.toml"),
    `[agents.one]\nmodel = "anthropic/a"\nmcp = []\n[agents.two]\nmodel = "anthropic/a"\n` +
      `[mcp.notes]\ncommand = ${JSON.stringify([command, ...args])}\n`,
  );
  const editor = await desk.editor({ agent: "one" });
  const session = await editor.client.session(desk.folder).create();
  await session.setConfigOption("agent", "two");
  await editor.came(
    (message) => updated("available_commands_update")(message) && JSON.stringify(message).includes("notes:review"),
  );
  expect(editor.failures).toEqual([]);
});
