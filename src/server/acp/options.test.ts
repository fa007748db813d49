import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { RPC } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { userConfigFile } from "../../config/index.ts";
import { call, say } from "../../testing/index.ts";
import { choosing, openDesk, updated, updatesOf } from "./test-scene.ts";

const TOUCH = call("bash", { command: "touch ran" });

const current = (options: readonly acp.SessionConfigOption[] | null | undefined): Record<string, unknown> =>
  Object.fromEntries((options ?? []).map(({ id, ...option }) => [id, option.currentValue]));

const changes = (updates: readonly acp.SessionUpdate[]): unknown[] =>
  updates.flatMap((update): unknown[] => {
    if (update.sessionUpdate === "current_mode_update") return [update.currentModeId];
    return update.sessionUpdate === "config_option_update" ? [current(update.configOptions)] : [];
  });

it("a mode is what the session may do, and is told of before the answer", async () => {
  await using desk = await openDesk([TOUCH, say("done")]);
  const editor = await desk.editor({ serve: { permission: () => choosing("deny") } });
  const session = await editor.client.session(desk.folder).create();
  expect(session.response.modes).toMatchObject({
    currentModeId: "ask",
    availableModes: [{ id: "ask", name: "Ask first" }, { id: "read" }, { id: "all" }, { id: "none" }],
  });
  await session.setMode("all");
  const model = "anthropic/claude-sonnet-5";
  const all = { mode: "all", model, agent: "anthropic" };
  expect(changes(updatesOf(editor, session.id))).toEqual(["all", all]);
  await session.prompt("go").finish();
  expect(await readFile(join(desk.folder, "ran"), "utf8")).toBe("");
  await expect(session.setMode("most")).rejects.toMatchObject({ code: RPC.invalidParams });
});

it("a mode that is chosen while a turn runs holds for the rest of it", async () => {
  await using desk = await openDesk([TOUCH, TOUCH, say("done")]);
  let asked = 0;
  const { client } = await desk.editor({
    serve: {
      permission: async () => {
        asked += 1;
        await session.setMode("none");
        return choosing("allow");
      },
    },
  });
  const session = await client.session(desk.folder).create();
  await session.prompt("go").finish();
  expect(asked).toBe(1);
  expect(
    (await desk.events(session.id)).flatMap((event) => (event.type === "tool.ended" ? [event.outcome] : [])),
  ).toEqual(["ok", "denied"]);
});

it("a mode can be chosen for a session that nobody drives, and for one that another process drives", async () => {
  await using desk = await openDesk([TOUCH, say("done")]);
  await using elsewhere = await desk.open();
  const driven = await elsewhere.openSession({ cwd: desk.folder });
  const editor = await desk.editor();
  const session = await editor.client.session(desk.folder).load(driven.id);
  await session.setMode("all");
  expect(await driven.prompt("go").outcome).toMatchObject({ status: "done" });
  await driven[Symbol.asyncDispose]();
  await session.setMode("read");
  expect(changes(updatesOf(editor, driven.id)).filter((change) => typeof change === "string")).toEqual(["all", "read"]);
  expect((await desk.events(driven.id)).at(-1)).toMatchObject({ type: "session.opened", permissions: "read" });
});

it("the model and the agent are options, and setting one answers with all of them", async () => {
  await using desk = await openDesk([say("one"), say("two"), say("three")]);
  const file = userConfigFile(desk.env);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(
    file,
    '[defaults]\nagent = "first"\n[agents.first]\nmodel = "anthropic/a"\n[agents.second]\nmodel = "anthropic/b"\n',
  );
  const editor = await desk.editor();
  const session = await editor.client.session(desk.folder).create();
  const before = session.response.configOptions ?? [];
  expect(current(before)).toEqual({ mode: "ask", model: "anthropic/a", agent: "first" });
  expect(before.map((option) => (option.type === "select" ? option.options.length : 0))).toEqual([4, 5, 9]);

  const changed = await session.setConfigOption("model", "anthropic/c");
  expect(current(changed.configOptions)).toEqual({ mode: "ask", model: "anthropic/c", agent: "first" });
  await session.prompt("1").finish();
  expect(desk.model.requests.at(-1)?.model).toBe("c");

  const switched = await session.setConfigOption("agent", "second");
  expect(current(switched.configOptions)).toEqual({ mode: "ask", model: "anthropic/b", agent: "second" });
  await session.prompt("2").finish();
  expect(desk.model.requests.at(-1)?.model).toBe("b");

  await session.setModel("anthropic/d");
  await session.prompt("3").finish();
  expect(desk.model.requests.at(-1)?.model).toBe("d");
  expect(changes(updatesOf(editor, session.id)).length).toBe(3);

  await session.close();
  const loaded = await editor.client.session(desk.folder).load(session.id);
  expect(current(loaded.response.configOptions)).toEqual({ mode: "ask", model: "anthropic/d", agent: "second" });
});

it("what is chosen before the first prompt of a loaded session holds from that prompt on", async () => {
  await using desk = await openDesk([say("one"), say("two")]);
  const { client } = await desk.editor();
  const session = await client.session(desk.folder).create();
  await session.prompt("1").finish();
  await session.close();
  const editor = await desk.editor();
  const loaded = await editor.client.session(desk.folder).load(session.id);
  const { configOptions } = await loaded.setConfigOption("model", "anthropic/x");
  expect(current(configOptions)).toMatchObject({ model: "anthropic/x" });
  await editor.came(updated("config_option_update"));
  await loaded.prompt("2").finish();
  expect(desk.model.requests.at(-1)?.model).toBe("x");
  expect((await desk.events(session.id)).filter(({ type }) => type === "session.opened")).toMatchObject([
    {},
    { model: "anthropic/x" },
  ]);
});

it.each<[string, string | boolean]>([
  ["colour", "red"],
  ["agent", "nobody"],
  ["mode", "most"],
  ["mode", true],
])("the option %s cannot be set to %j", async (name, value) => {
  await using desk = await openDesk([]);
  const { client } = await desk.editor();
  const session = await client.session(desk.folder).create();
  await expect(session.setConfigOption(name, value)).rejects.toMatchObject({ code: RPC.invalidParams });
});

it("a fork begins with the turns that have ended, and goes its own way", async () => {
  await using desk = await openDesk([say("one"), say("two"), say("three")]);
  const { client, wire } = await desk.editor();
  const session = await client.session(desk.folder).create();
  await session.prompt("1").finish();
  const fork = await client.session(desk.folder).fork(session.id);
  expect(fork.id).not.toBe(session.id);
  expect(await fork.prompt("2").readText()).toBe("two");
  expect(JSON.stringify(desk.model.requests.at(-1)?.messages)).toContain("one");
  expect(await session.prompt("3").readText()).toBe("three");
  expect(JSON.stringify(desk.model.requests.at(-1)?.messages)).not.toContain("two");
  expect(updatesOf({ wire }, fork.id).map(({ sessionUpdate }) => sessionUpdate)).not.toContain("user_message_chunk");
});
