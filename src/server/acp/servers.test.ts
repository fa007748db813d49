import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scriptedServer } from "../../mcp/test-servers.ts";
import { call, readAcpRecord, say, writeAcpAgent } from "../../testing/index.ts";
import { openAcpScene, isUpdateOfKind } from "./test-scene.ts";

const NOTES = { name: "notes", command: "notes-server", args: ["--here"], env: [{ name: "A", value: "1" }] };

it("passes the MCP servers of the editor to an ACP agent", async () => {
  await using scene = await openAcpScene([]);
  const { command, record } = await writeAcpAgent(scene.folder, { otherwise: [{ say: "hi" }] });
  const config = join(String((scene.env as Record<string, string>)["XDG_CONFIG_HOME"]), "rookery");
  await mkdir(config, { recursive: true });
  await writeFile(join(config, "rookery.toml"), `[agents.it]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}\n`);
  const editor = await scene.editor({ agent: "it" });
  const session = await editor.client.session(scene.folder).mcpServer(NOTES).create();
  expect(await session.prompt("x").readText()).toBe("hi");
  expect(JSON.stringify(await readAcpRecord(record))).toContain(JSON.stringify(NOTES));
  expect(editor.failures).toEqual([]);
});

const { command, args } = scriptedServer("notes");
const WORKING = { name: "notes", command, args: [...args], env: [] };

it("passes the MCP servers of the editor to the built-in agent and asks for permission", async () => {
  await using scene = await openAcpScene(({ toolResults }) =>
    toolResults.length === 0 ? call("notes__echo", { text: "hi there" }) : say(`It says ${toolResults[0]?.content}.`),
  );
  const asked: string[] = [];
  const permission = ({ toolCall }: { toolCall: { title?: string | null } }) => {
    asked.push(toolCall.title ?? "");
    return { outcome: { outcome: "selected" as const, optionId: "allow" } };
  };
  const editor = await scene.editor({ serve: { permission } });
  const session = await editor.client.session(scene.folder).mcpServer(WORKING).create();
  expect(await session.prompt("go").readText()).toBe("It says hi there.");
  expect(asked).toHaveLength(1);
});

it("offers MCP prompts as commands and starts a turn with their text", async () => {
  await using scene = await openAcpScene([say("Reviewed.")]);
  const editor = await scene.editor();
  const session = await editor.client.session(scene.folder).mcpServer(WORKING).create();
  const { params } = await editor.waitForMessage(
    (message) =>
      isUpdateOfKind("available_commands_update")(message) && JSON.stringify(message).includes("notes:review"),
  );
  expect(params).toMatchObject({
    update: {
      availableCommands: expect.arrayContaining([
        { name: "notes:review", description: "Reviews", input: { hint: "file=…" } },
      ]) as unknown,
    },
  });
  expect(await session.prompt("/notes:review src/a.ts").readText()).toBe("Reviewed.");
  expect(scene.model.requests[0]?.lastUserText).toBe("Review src/a.ts");
});

it("sends the commands again when the agent changes", async () => {
  await using scene = await openAcpScene([]);
  const config = join(String((scene.env as Record<string, string>)["XDG_CONFIG_HOME"]), "rookery");
  await mkdir(config, { recursive: true });
  await writeFile(
    join(config, "rookery.toml"),
    `[agents.one]\nmodel = "anthropic/a"\nmcp = []\n[agents.two]\nmodel = "anthropic/a"\n` +
      `[mcp.notes]\ncommand = ${JSON.stringify([command, ...args])}\n`,
  );
  const editor = await scene.editor({ agent: "one" });
  const session = await editor.client.session(scene.folder).create();
  await session.setConfigOption("agent", "two");
  await editor.waitForMessage(
    (message) =>
      isUpdateOfKind("available_commands_update")(message) && JSON.stringify(message).includes("notes:review"),
  );
  expect(editor.failures).toEqual([]);
});
