import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { RPC } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { userConfigFile } from "../../config/index.ts";
import { call, say } from "../../testing/index.ts";
import { selectOption, openAcpScene, isUpdateOfKind, receivedUpdates } from "./test-scene.ts";

const TOUCH = call("bash", { command: "touch ran" });

const current = (options: readonly acp.SessionConfigOption[] | null | undefined): Record<string, unknown> =>
  Object.fromEntries((options ?? []).map(({ id, ...option }) => [id, option.currentValue]));

const changes = (updates: readonly acp.SessionUpdate[]): unknown[] =>
  updates.flatMap((update): unknown[] => {
    if (update.sessionUpdate === "current_mode_update") return [update.currentModeId];
    return update.sessionUpdate === "config_option_update" ? [current(update.configOptions)] : [];
  });

it("applies a mode and sends it before the response", async () => {
  await using scene = await openAcpScene([TOUCH, say("done")]);
  const editor = await scene.editor({ serve: { permission: () => selectOption("deny") } });
  const session = await editor.client.session(scene.folder).create();
  expect(session.response.modes).toMatchObject({
    currentModeId: "ask",
    availableModes: [{ id: "ask", name: "Ask first" }, { id: "read" }, { id: "all" }, { id: "none" }],
  });
  await session.setMode("all");
  const model = "anthropic/claude-sonnet-5";
  const all = { mode: "all", model, agent: "anthropic" };
  expect(changes(receivedUpdates(editor, session.id))).toEqual(["all", all]);
  await session.prompt("go").finish();
  expect(await readFile(join(scene.folder, "ran"), "utf8")).toBe("");
  await expect(session.setMode("most")).rejects.toMatchObject({ code: RPC.invalidParams });
});

it("applies a mode to the rest of the running turn", async () => {
  await using scene = await openAcpScene([TOUCH, TOUCH, say("done")]);
  let asked = 0;
  const { client } = await scene.editor({
    serve: {
      permission: async () => {
        asked += 1;
        await session.setMode("none");
        return selectOption("allow");
      },
    },
  });
  const session = await client.session(scene.folder).create();
  await session.prompt("go").finish();
  expect(asked).toBe(1);
  expect(
    (await scene.events(session.id)).flatMap((event) => (event.type === "tool.ended" ? [event.outcome] : [])),
  ).toEqual(["ok", "denied"]);
});

it("sets the mode of an idle session and of a session that another process drives", async () => {
  await using scene = await openAcpScene([TOUCH, say("done")]);
  await using elsewhere = await scene.open();
  const driven = await elsewhere.openSession({ cwd: scene.folder });
  const editor = await scene.editor();
  const session = await editor.client.session(scene.folder).load(driven.id);
  await session.setMode("all");
  expect(await driven.prompt("go").outcome).toMatchObject({ status: "done" });
  await driven[Symbol.asyncDispose]();
  await session.setMode("read");
  expect(changes(receivedUpdates(editor, driven.id)).filter((change) => typeof change === "string")).toEqual([
    "all",
    "read",
  ]);
  expect((await scene.events(driven.id)).at(-1)).toMatchObject({ type: "session.opened", permissions: "read" });
});

it("offers the model and the agent as options and returns all options after a change", async () => {
  await using scene = await openAcpScene([say("one"), say("two"), say("three")]);
  const file = userConfigFile(scene.env);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(
    file,
    '[defaults]\nagent = "first"\n[agents.first]\nmodel = "anthropic/a"\n[agents.second]\nmodel = "anthropic/b"\n',
  );
  const editor = await scene.editor();
  const session = await editor.client.session(scene.folder).create();
  const before = session.response.configOptions ?? [];
  expect(current(before)).toEqual({ mode: "ask", model: "anthropic/a", agent: "first" });
  expect(before.map((option) => (option.type === "select" ? option.options.length : 0))).toEqual([4, 5, 9]);

  const changed = await session.setConfigOption("model", "anthropic/c");
  expect(current(changed.configOptions)).toEqual({ mode: "ask", model: "anthropic/c", agent: "first" });
  await session.prompt("1").finish();
  expect(scene.model.requests.at(-1)?.model).toBe("c");

  const switched = await session.setConfigOption("agent", "second");
  expect(current(switched.configOptions)).toEqual({ mode: "ask", model: "anthropic/b", agent: "second" });
  await session.prompt("2").finish();
  expect(scene.model.requests.at(-1)?.model).toBe("b");

  await session.setModel("anthropic/d");
  await session.prompt("3").finish();
  expect(scene.model.requests.at(-1)?.model).toBe("d");
  expect(changes(receivedUpdates(editor, session.id)).length).toBe(3);

  await session.close();
  const loaded = await editor.client.session(scene.folder).load(session.id);
  expect(current(loaded.response.configOptions)).toEqual({ mode: "ask", model: "anthropic/d", agent: "second" });
});

it("applies settings chosen before the first prompt of a loaded session", async () => {
  await using scene = await openAcpScene([say("one"), say("two")]);
  const { client } = await scene.editor();
  const session = await client.session(scene.folder).create();
  await session.prompt("1").finish();
  await session.close();
  const editor = await scene.editor();
  const loaded = await editor.client.session(scene.folder).load(session.id);
  const { configOptions } = await loaded.setConfigOption("model", "anthropic/x");
  expect(current(configOptions)).toMatchObject({ model: "anthropic/x" });
  await editor.waitForMessage(isUpdateOfKind("config_option_update"));
  await loaded.prompt("2").finish();
  expect(scene.model.requests.at(-1)?.model).toBe("x");
  expect((await scene.events(session.id)).filter(({ type }) => type === "session.opened")).toMatchObject([
    {},
    { model: "anthropic/x" },
  ]);
});

it.each<[string, string | boolean]>([
  ["colour", "red"],
  ["agent", "nobody"],
  ["mode", "most"],
  ["mode", true],
])("rejects %s = %j with invalid params", async (name, value) => {
  await using scene = await openAcpScene([]);
  const { client } = await scene.editor();
  const session = await client.session(scene.folder).create();
  await expect(session.setConfigOption(name, value)).rejects.toMatchObject({ code: RPC.invalidParams });
});

it("forks a session with its completed turns, independent of the original", async () => {
  await using scene = await openAcpScene([say("one"), say("two"), say("three")]);
  const { client, wire } = await scene.editor();
  const session = await client.session(scene.folder).create();
  await session.prompt("1").finish();
  const fork = await client.session(scene.folder).fork(session.id);
  expect(fork.id).not.toBe(session.id);
  expect(await fork.prompt("2").readText()).toBe("two");
  expect(JSON.stringify(scene.model.requests.at(-1)?.messages)).toContain("one");
  expect(await session.prompt("3").readText()).toBe("three");
  expect(JSON.stringify(scene.model.requests.at(-1)?.messages)).not.toContain("two");
  expect(receivedUpdates({ wire }, fork.id).map(({ sessionUpdate }) => sessionUpdate)).not.toContain(
    "user_message_chunk",
  );
});
