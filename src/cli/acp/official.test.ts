import { Readable, Writable } from "node:stream";
import {
  client,
  ndJsonStream,
  type NewSessionResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { client as unstableClient } from "@agentclientprotocol/sdk/unstable";
import { expect, it } from "vitest";
import { call, say, type Script } from "../../testing/index.ts";
import { formatUpdates } from "../../server/acp/test-scene.ts";
import { openEditorScene, type RawCommand } from "./test-scene.ts";

const PROMPT = [{ type: "text" as const, text: "Go" }];

/** Connects the official client to the built command and records what it receives. */
async function connected(script: Script) {
  const scene = await openEditorScene(script);
  const raw = scene.raw();
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const connection = client({ name: "official" })
    .onRequest("session/request_permission", ({ params }) => {
      asked.push(params);
      return { outcome: { outcome: "selected", optionId: params.options[0]?.optionId ?? "" } };
    })
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .connect(streamOf(raw));
  return {
    cwd: scene.cwd,
    official: connection.agent,
    updates,
    asked,
    async [Symbol.asyncDispose]() {
      connection.close();
      await scene[Symbol.asyncDispose]();
    },
  };
}

function streamOf({ child }: RawCommand) {
  return ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
}

it("works with every method of the official client", async () => {
  const slow = say(Array<string>(500).fill("x "), { chunkDelayMs: 20 });
  await using scene = await connected([call("write", { path: "a", content: "b" }), say("Done."), slow, say("Model.")]);
  const { official, updates, cwd } = scene;
  const NEW = { cwd, mcpServers: [] };

  const introduction = await official.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  expect(introduction).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: "rookery" },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { embeddedContext: true },
      sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {} },
    },
    authMethods: [],
  });
  await expect(official.request("authenticate", { methodId: "x" })).rejects.toMatchObject({ code: -32602 });
  await expect(official.request("logout", {})).rejects.toMatchObject({ code: -32601 });

  const { sessionId, modes, configOptions }: NewSessionResponse = await official.request("session/new", NEW);
  expect([modes?.currentModeId, configOptions?.map(({ id }) => id)]).toEqual(["ask", ["mode", "model", "agent"]]);
  const done = await official.request("session/prompt", { sessionId, prompt: PROMPT });
  expect(done).toMatchObject({ stopReason: "end_turn", _meta: { rookery: { usage: {} } } });
  expect(scene.asked).toMatchObject([{ sessionId, toolCall: { kind: "edit" } }]);
  const live = formatUpdates(updates).filter((line) => /^(says|tool)/.test(line));
  expect(live.at(-1)).toBe("says Done.");

  const prompted = official.request("session/prompt", { sessionId, prompt: PROMPT });
  await expect.poll(() => formatUpdates(updates).at(-1)).toMatch(/^says .*x /);
  await official.notify("session/cancel", { sessionId });
  expect(await prompted).toMatchObject({ stopReason: "cancelled" });

  expect(await official.request("session/set_mode", { sessionId, modeId: "all" })).toEqual({});
  expect(updates).toContainEqual({ sessionUpdate: "current_mode_update", currentModeId: "all" });
  const chosen = { sessionId, configId: "model", value: "anthropic/other" };
  expect(await official.request("session/set_config_option", chosen)).toMatchObject({
    configOptions: [
      { id: "mode", currentValue: "all" },
      { id: "model", currentValue: "anthropic/other" },
      { id: "agent", currentValue: "anthropic" },
    ],
  });
  expect(await official.request("session/list", { cwd })).toMatchObject({
    sessions: [{ sessionId, cwd, title: "Go" }],
  });
  expect(await official.request("session/close", { sessionId })).toEqual({});

  updates.length = 0;
  await official.request("session/load", { ...NEW, sessionId });
  expect(
    formatUpdates(updates)
      .filter((line) => /^(says|tool)/.test(line))
      .slice(0, live.length),
  ).toEqual(live);
  updates.length = 0;
  await official.request("session/resume", { ...NEW, sessionId });
  expect(formatUpdates(updates).filter((line) => !line.endsWith("_update"))).toEqual([]);
  expect(await official.request("session/prompt", { sessionId, prompt: PROMPT })).toMatchObject({
    stopReason: "end_turn",
  });
  expect(await official.request("session/delete", { sessionId })).toEqual({});
  expect(await official.request("session/list", {})).toMatchObject({ sessions: [] });
  await expect(official.request("session/load", { ...NEW, sessionId })).rejects.toMatchObject({ code: -32002 });
}, 30_000);

it("streams the text of a turn to a session of the official client", async () => {
  await using scene = await connected([say(["Hel", "lo."])]);
  await scene.official.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const session = await scene.official.buildSession(scene.cwd).start();
  const answer = session.prompt("Go");
  expect(await session.readText()).toBe("Hello.");
  expect(await answer).toMatchObject({ stopReason: "end_turn" });
  session.dispose();
});

it("forks a session for the official unstable client", async () => {
  await using scene = await openEditorScene([say("one"), say("two")]);
  const connection = unstableClient({ name: "official" })
    .onNotification("session/update", () => undefined)
    .connect(streamOf(scene.raw()));
  const { agent: official } = connection;
  const NEW = { cwd: scene.cwd, mcpServers: [] };
  const { agentCapabilities } = await official.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  expect(agentCapabilities?.sessionCapabilities?.fork).toEqual({});
  const { sessionId }: NewSessionResponse = await official.request("session/new", NEW);
  await official.request("session/prompt", { sessionId, prompt: PROMPT });
  const fork: NewSessionResponse = await official.request("session/fork", { ...NEW, sessionId });
  expect(fork.sessionId).not.toBe(sessionId);
  const answer = await official.request("session/prompt", { sessionId: fork.sessionId, prompt: PROMPT });
  expect(answer).toMatchObject({ stopReason: "end_turn" });
  connection.close();
});
