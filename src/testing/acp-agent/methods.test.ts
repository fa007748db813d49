import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../repository.ts";
import type { AcpScript } from "./index.ts";
import { type LineClient, open, type Params } from "./test-client.ts";

const chunk = (text: string) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const STORED = { sessionId: "old", cwd: "/project", title: "Earlier", updatedAt: "2025-01-01T00:00:00Z" };
const WITH_HISTORY: AcpScript = { sessions: [{ ...STORED, history: [chunk("one"), chunk("two")] }], otherwise: [] };
const OLD = { sessionId: "old", cwd: "/project", mcpServers: [] };

const MODEL = {
  type: "select",
  id: "model",
  name: "Model",
  category: "model",
  currentValue: "small",
  options: [
    { value: "small", name: "Small" },
    { group: "big", name: "Big", options: [{ value: "large", name: "Large" }] },
  ],
} as const;
const FAST = { type: "boolean", id: "fast", name: "Fast", currentValue: false } as const;

describe("initialize", () => {
  it("answers with its own version, whichever version the client requests", async () => {
    await using scene = open({});
    const asked = { protocolVersion: 65_535, clientCapabilities: {} };
    expect(await scene.client.result("initialize", asked)).toMatchObject({ protocolVersion: 1, authMethods: [] });
  });

  it("merges the script's capabilities into its own, and rejects methods that it does not advertise", async () => {
    const agentCapabilities = { loadSession: false, sessionCapabilities: { list: null }, auth: { logout: null } };
    await using scene = open({ initialize: { agentCapabilities, agentInfo: { name: "other", version: "2" } } });
    expect(await scene.client.result("initialize")).toMatchObject({
      agentInfo: { name: "other", version: "2" },
      agentCapabilities: { loadSession: false, sessionCapabilities: { list: null, close: {} } },
    });
    for (const method of ["session/load", "session/list", "logout", "session/set_model", "_unknown/method"]) {
      expect([method, await errorOf(scene.client, method, OLD)]).toEqual([method, -32601]);
    }
    expect(await errorOf(scene.client, "session/resume", OLD)).toBe(-32002);
  });
});

describe("authentication", () => {
  it("is required for sessions, and again after a logout", async () => {
    await using scene = open({ auth: {}, otherwise: [] });
    const { client } = scene;
    const setUp = { cwd: "/project", mcpServers: [] };
    expect(await client.result("initialize")).toMatchObject({ authMethods: [{ id: "scripted" }] });
    expect(await errorOf(client, "session/new", setUp)).toBe(-32000);
    expect(await errorOf(client, "authenticate", { methodId: "other" })).toBe(-32602);
    expect(await client.result("authenticate", { methodId: "scripted" })).toEqual({});
    const sessionId = await client.newSession();
    expect(await client.result("logout")).toEqual({});
    expect(await errorOf(client, "session/new", setUp)).toBe(-32000);
    expect((await client.prompt(sessionId)).error?.code).toBe(-32000);
  });

  it("offers a terminal login only to clients with terminal support", async () => {
    const terminal = { type: "terminal", id: "login", name: "Log in", args: ["--login"] };
    await using scene = open({ auth: { methods: [terminal] } });
    expect(await scene.client.result("initialize")).toMatchObject({ authMethods: [] });
    const clientCapabilities = { auth: { terminal: true } };
    expect(await scene.client.result("initialize", { clientCapabilities })).toMatchObject({ authMethods: [terminal] });
  });
});

describe("session/new", () => {
  it.each([
    ["a relative folder", { cwd: "work", mcpServers: [] }],
    ["no folder", { mcpServers: [] }],
    ["no servers", { cwd: "/project" }],
    ["servers that are no objects", { cwd: "/project", mcpServers: ["x"] }],
  ])("rejects %s", async (_, params) => {
    await using scene = open({});
    expect(await errorOf(scene.client, "session/new", params)).toBe(-32602);
  });

  it("can send updates and a request before its answer", async () => {
    const read = { request: { method: "fs/read_text_file", params: { path: "/project/AGENTS.md" } } };
    const on = { "session/new": { steps: [{ say: "early" }, read], after: [{ say: "late" }] } };
    await using scene = open({ on }, { "fs/read_text_file": { content: "Be kind." } });
    const sessionId = await scene.client.newSession();
    await scene.client.until(() => (scene.client.text().endsWith("late") ? true : undefined));
    expect(kinds(scene.client)).toEqual(["early", "fs/read_text_file", "read: Be kind.", sessionId, "late"]);
  });

  it("uses one scripted answer per call", async () => {
    const error = { code: -32603, message: "not today", data: { why: "rain" } };
    await using scene = open({ on: { "session/new": [{ answer: { error } }, {}] }, sessionPrefix: "mine-" });
    const setUp = { cwd: "/project", mcpServers: [] };
    expect((await scene.client.request("session/new", setUp)).error).toEqual(error);
    expect(await scene.client.result("session/new", setUp)).toEqual({ sessionId: "mine-1" });
  });
});

describe("a session from earlier", () => {
  it("is replayed before the answer to load, and then accepts prompts", async () => {
    await using scene = open(WITH_HISTORY);
    expect((await scene.client.prompt("old")).error?.code).toBe(-32002);
    expect(await scene.client.result("session/load", OLD)).toEqual({});
    expect(scene.client.updates("old")).toEqual([chunk("one"), chunk("two")]);
    expect((await scene.client.prompt("old")).result).toEqual({ stopReason: "end_turn" });
  });

  it("is replayed after the answer or never, if the script says so", async () => {
    await using late = open({ ...WITH_HISTORY, replay: "after" });
    await late.client.result("session/load", OLD);
    expect(late.client.updates()).toEqual([]);
    await late.client.until(() => (late.client.updates().length === 2 ? true : undefined));

    await using never = open({
      ...WITH_HISTORY,
      replay: "never",
      on: { "session/load": { answer: { result: null } } },
    });
    expect((await never.client.request("session/load", OLD)).result).toBeNull();
    await never.client.request("session/list");
    expect(never.client.updates()).toEqual([]);
  });

  it("is resumed without a replay", async () => {
    await using scene = open(WITH_HISTORY);
    expect(await scene.client.result("session/resume", { sessionId: "old", cwd: "/project" })).toEqual({});
    await scene.client.prompt("old");
    expect(scene.client.updates()).toEqual([]);
  });

  it("is forked with its history into a new session", async () => {
    await using scene = open(WITH_HISTORY);
    const { sessionId } = await scene.client.result("session/fork", { sessionId: "old", cwd: "/project" });
    expect(sessionId).not.toBe("old");
    await scene.client.result("session/load", { ...OLD, sessionId });
    expect(scene.client.updates(String(sessionId))).toEqual([chunk("one"), chunk("two")]);
  });

  it("is known to the next agent with the same sessions file", async () => {
    await using folder = await temporaryFolder();
    const sessionsFile = join(folder.path, "sessions.json");
    await using first = open({ sessionsFile, prompts: [[{ say: "kept" }, { update: NOTICE }]] });
    const sessionId = await first.client.newSession();
    await first.client.prompt(sessionId, "Remember me");
    await first.agent.close();
    expect(await readFile(sessionsFile, "utf8")).toContain("kept");

    await using second = open({ sessionsFile });
    await second.client.result("session/load", { ...OLD, sessionId });
    expect(second.client.updates(sessionId)).toEqual([
      { sessionUpdate: "user_message_chunk", content: { type: "text", text: "Remember me" } },
      chunk("kept"),
    ]);
    expect(await second.client.newSession()).not.toBe(sessionId);
  });
});

const NOTICE = { sessionUpdate: "notice", severity: "info", title: "Only now" };

describe("session/list", () => {
  const sessions = ["a", "b", "c", "d", "e"].map((sessionId) => ({
    sessionId,
    cwd: sessionId === "c" ? "/other" : "/project",
  }));

  it("returns pages, optionally of one folder", async () => {
    await using scene = open({ sessions, pageSize: 3 });
    const pages: unknown[] = [];
    let cursor: unknown = undefined;
    do {
      const page = await scene.client.result("session/list", { cwd: "/project", cursor });
      pages.push((page["sessions"] as Params[]).map((session) => session["sessionId"]));
      cursor = page["nextCursor"];
    } while (cursor !== undefined);
    expect(pages).toEqual([["a", "b", "d"], ["e"]]);
    expect(await scene.client.result("session/list", { cwd: "/nowhere" })).toEqual({ sessions: [] });
    expect(await errorOf(scene.client, "session/list", { cursor: "made up" })).toBe(-32602);
  });

  it("returns the title and time that the agent reported", async () => {
    const info = { sessionUpdate: "session_info_update", title: "Named", updatedAt: "2025-02-03T00:00:00Z" };
    await using scene = open({ prompts: [[{ update: info }]] });
    const sessionId = await scene.client.newSession({ additionalDirectories: ["/more"] });
    await scene.client.prompt(sessionId);
    expect(await scene.client.result("session/list")).toEqual({
      sessions: [
        { sessionId, cwd: "/project", title: "Named", updatedAt: info.updatedAt, additionalDirectories: ["/more"] },
      ],
    });
  });

  it("omits deleted sessions, and deleting an unknown session succeeds", async () => {
    await using scene = open({ sessions });
    expect(await scene.client.result("session/delete", { sessionId: "b" })).toEqual({});
    expect(await scene.client.result("session/delete", { sessionId: "b" })).toEqual({});
    const { sessions: left } = await scene.client.result("session/list");
    expect((left as Params[]).map((session) => session["sessionId"])).toEqual(["a", "c", "d", "e"]);
  });
});

describe("settings", () => {
  const modes = { currentModeId: "ask", availableModes: ["ask", "code"].map((id) => ({ id, name: id })) };
  const models = { currentModelId: "s", availableModels: ["s", "l"].map((modelId) => ({ modelId, name: modelId })) };

  it("sets a known mode and rejects an unknown one", async () => {
    await using scene = open({ modes });
    const { sessionId, modes: offered } = await scene.client.result("session/new", { cwd: "/project", mcpServers: [] });
    expect(offered).toEqual(modes);
    expect(await scene.client.result("session/set_mode", { sessionId, modeId: "code" })).toEqual({});
    expect(await errorOf(scene.client, "session/set_mode", { sessionId, modeId: "fly" })).toBe(-32602);
    const { modes: after } = await scene.client.result("session/resume", { sessionId, cwd: "/project" });
    expect(after).toMatchObject({ currentModeId: "code" });
  });

  it("sets an option to an allowed value and returns all options", async () => {
    await using scene = open({ configOptions: [MODEL, FAST] });
    const { client } = scene;
    await client.result("initialize", { clientCapabilities: { session: { configOptions: { boolean: {} } } } });
    const sessionId = await client.newSession();
    const set = (configId: string, value: unknown) => ({ sessionId, configId, value });
    expect(await client.result("session/set_config_option", set("model", "large"))).toEqual({
      configOptions: [{ ...MODEL, currentValue: "large" }, FAST],
    });
    expect(await client.result("session/set_config_option", { ...set("fast", true), type: "boolean" })).toEqual({
      configOptions: [
        { ...MODEL, currentValue: "large" },
        { ...FAST, currentValue: true },
      ],
    });
    expect(await errorOf(client, "session/set_config_option", set("model", "huge"))).toBe(-32602);
    expect(await errorOf(client, "session/set_config_option", set("taste", "sweet"))).toBe(-32602);
  });

  it("hides boolean options from a client that does not support them", async () => {
    await using scene = open({ configOptions: [MODEL, FAST] });
    const { configOptions } = await scene.client.result("session/new", { cwd: "/project", mcpServers: [] });
    expect(configOptions).toEqual([MODEL]);
  });

  it("supports session/set_model if the script has models", async () => {
    await using scene = open({ models });
    const { sessionId, models: offered } = await scene.client.result("session/new", {
      cwd: "/project",
      mcpServers: [],
    });
    expect(offered).toEqual(models);
    expect(await scene.client.result("session/set_model", { sessionId, modelId: "l" })).toEqual({});
    expect(await errorOf(scene.client, "session/set_model", { sessionId, modelId: "xl" })).toBe(-32602);
  });
});

describe("custom methods of the script", () => {
  it("are answered as scripted, also as notifications", async () => {
    const on = {
      "_own/ask": { answer: { result: ["anything", null] } },
      "_own/tell": { steps: [{ notify: { method: "_own/heard", params: { x: 1 } } }] },
    };
    await using scene = open({ on });
    expect((await scene.client.request("_own/ask")).result).toEqual(["anything", null]);
    scene.client.send({ method: "_own/tell" });
    expect((await scene.client.first(({ method }) => method === "_own/heard")).params).toEqual({ x: 1 });
  });
});

async function errorOf(client: LineClient, method: string, params: Params = {}): Promise<number | undefined> {
  return (await client.request(method, params)).error?.code;
}

/** Formats the received messages. */
function kinds(client: LineClient): unknown[] {
  return client.messages.map(({ method, params, result }) => {
    if (method === undefined) return result?.["sessionId"];
    if (method !== "session/update") return method;
    const { text } = (params?.["update"] as { content: { text: string } }).content;
    return text.replace(/^fs\/read_text_file: \{"content":"(.*)"\}$/, "read: $1");
  });
}
