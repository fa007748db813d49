/** Tests deeply nested JSON from models, MCP servers and users: at most one turn or call fails, and the session stays usable. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionEvent as EventSchema, type InProcessServerSpec, type McpTransport } from "../domain/index.ts";
import { WIRE_MODELS, WIRES } from "../providers/test-models.ts";
import { openSqliteStore } from "../store/index.ts";
import { call, calls, say, temporaryFolder, type Reply, type Script } from "../testing/index.ts";
import { openWorld } from "./test-scene.ts";

const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";
/** The limits are 500 and 1,000 levels, and several thousand in `JSON.stringify`. The last depth gives 5 MB of text. */
const DEPTHS = IS_SLOW_RUN ? [600, 1_500, 4_000, 50_000, 2_500_000] : [50_000];
const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const DEEP = DEPTHS.flatMap((depth): [string, string][] => [
  [`${depth} nested lists`, lists(depth)],
  ...(depth > 1_000_000 || !IS_SLOW_RUN ? [] : [[`${depth} nested objects`, objects(depth)] as [string, string]]),
]);

const unhandled: unknown[] = [];
const recordRejection = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", recordRejection));
afterAll(() => void process.off("unhandledRejection", recordRejection));

async function openStoredWorld(script: Script) {
  const folder = await temporaryFolder();
  const world = await openWorld(script, await openSqliteStore({ path: join(folder.path, "log.db") }));
  world.owned.use(folder);
  return world;
}

/** Makes the model call the tool in every turn whose prompt does not contain "talk". */
const callUnlessTalk = (reply: Reply): Script => {
  return ({ messages, lastUserText }) =>
    messages.at(-1)?.toolResults.length === 0 && !lastUserText.includes("talk") ? reply : say("Hello.");
};

describe.each(DEEP)("accepts or rejects %s", { timeout: 180_000 }, (_, deep) => {
  it.each(WIRES)("in the arguments of a call over %s", async (wire) => {
    const written = `{"path":${deep}}`;
    await using w = await openStoredWorld(callUnlessTalk(calls([{ name: "read", input: {}, written }])));
    await w.configure(`[agents.deep]\nbackend = "api"\nmodel = "${WIRE_MODELS[wire]}"\nretries = 0\n`);
    await using rookery = await w.open();
    const session = await rookery.openSession({ agent: "deep", baseUrl: w.model.url, apiKey: "f", permissions: "all" });
    expect((await session.prompt("call it").outcome).status).toMatch(/^(done|failed)$/);
    expect(await session.prompt("talk").outcome).toMatchObject({ status: "done" });
    const events = await w.events(session.id);
    for (const event of events) EventSchema.parse(event);
    expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(2);
    expect(unhandled.splice(0)).toEqual([]);
  });

  it.each(Object.keys(PLACES))("in %s of an MCP server", async (place) => {
    await using w = await openStoredWorld(callUnlessTalk(call("deep__echo", { text: "a" })));
    await using rookery = await w.open();
    const session = await rookery.openSession({
      permissions: "all",
      attended: false,
      mcpServers: [createDeepServer(place, deep)],
    });
    expect((await session.prompt("call it").outcome).status).toMatch(/^(done|failed)$/);
    expect(await session.prompt("talk").outcome).toMatchObject({ status: "done" });
    session.tools.servers();
    const events = await w.events(session.id);
    for (const event of events) EventSchema.parse(event);
    expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(2);
    expect(unhandled.splice(0)).toEqual([]);
  });

  it("in the answer to a question", async () => {
    await using w = await openStoredWorld(callUnlessTalk(call("ask", { question: "Which?" })));
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const turn = session.prompt("call it");
    for await (const event of turn) {
      if (event.type !== "question.asked") continue;
      const content = { answer: "this", more: JSON.parse(deep) as unknown };
      const refusal = await rookery.answer(session.id, event.requestId, { action: "accept", content }).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (refusal === undefined) continue;
      expect(refusal).toMatchObject({ code: "input_invalid" });
      await session.answer(event.requestId, { action: "decline" });
    }
    expect(await turn.outcome).toMatchObject({ status: "done" });
    expect(await session.prompt("talk").outcome).toMatchObject({ status: "done" });
    expect((await rookery.sessions()).map(({ id }) => id)).toEqual([session.id]);
  });

  it("in .mcp.json", async () => {
    await using w = await openStoredWorld(() => say("Hello."));
    await using rookery = await w.open();
    for (const text of [deep, `{"mcpServers":${deep}}`, `{"mcpServers":{"a":{"command":"true","args":${deep}}}}`]) {
      await writeFile(join(w.options.cwd, ".mcp.json"), text);
      const code = /^(config_invalid|not_trusted)$/;
      const found = await rookery.declaredServers().catch((error: unknown) => error);
      if (found instanceof Error) expect(found).toMatchObject({ code: expect.stringMatching(code) as string });
    }
    expect(unhandled.splice(0)).toEqual([]);
  });
});

const SCHEMA = { type: "object", properties: { text: { type: "string" } } };
const TOOL = { name: "echo", inputSchema: SCHEMA };

/** The result of a method, or an extra message, with `DEEP` in place of the nested JSON. */
const PLACES: Readonly<Record<string, readonly [method: string, result: object, extra?: object]>> = {
  "the structured content": ["tools/call", { content: [], structuredContent: { a: "DEEP" } }],
  "the content": ["tools/call", { content: "DEEP" }],
  "a block of content": ["tools/call", { content: ["DEEP", { type: "resource", resource: "DEEP" }] }],
  "the metadata of a result": [
    "tools/call",
    { content: [{ type: "text", text: "a", _meta: { a: "DEEP" } }], _meta: { a: "DEEP" } },
  ],
  "the whole result": ["tools/call", { a: "DEEP" }],
  "an input schema": ["tools/list", { tools: [{ ...TOOL, inputSchema: { ...SCHEMA, properties: { a: "DEEP" } } }] }],
  "an output schema": ["tools/list", { tools: [{ ...TOOL, outputSchema: { ...SCHEMA, properties: { a: "DEEP" } } }] }],
  "the annotations of a tool": [
    "tools/list",
    { tools: [{ ...TOOL, annotations: { a: "DEEP" }, _meta: { a: "DEEP" } }] },
  ],
  "a list of prompts": ["prompts/list", { prompts: [{ name: "p", arguments: "DEEP" }, "DEEP"] }],
  "a list of resources": ["resources/list", { resources: [{ uri: "a:b", name: "DEEP" }, "DEEP"] }],
  "a log message": ["", {}, { method: "notifications/message", params: { level: "info", data: "DEEP" } }],
  progress: ["", {}, { method: "notifications/progress", params: { progressToken: 1, progress: 1, message: "DEEP" } }],
  "an unknown notification": ["", {}, { method: "notifications/other", params: { a: "DEEP" } }],
  "the form of a question": [
    "",
    {},
    {
      id: 900,
      method: "elicitation/create",
      params: { message: "m", requestedSchema: { ...SCHEMA, properties: { a: "DEEP" } } },
    },
  ],
  "a sampling request": [
    "",
    {},
    {
      id: 901,
      method: "sampling/createMessage",
      params: { messages: [{ role: "user", content: "DEEP" }], maxTokens: 5 },
    },
  ],
  "an unknown request": ["", {}, { id: 902, method: "other", params: { a: "DEEP" } }],
};

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {}, prompts: {}, resources: {}, logging: {} },
    serverInfo: { name: "deep", version: "1" },
  },
  "tools/list": { tools: [TOOL] },
  "prompts/list": { prompts: [] },
  "resources/list": { resources: [] },
  "resources/templates/list": { resourceTemplates: [] },
  "tools/call": { content: [{ type: "text", text: "hi" }] },
};

function createDeepServer(place: string, deep: string): InProcessServerSpec {
  const [changed, changedResult, extra] = PLACES[place] ?? ["", {}];
  const withDeep = (message: object) =>
    JSON.parse(JSON.stringify({ jsonrpc: "2.0", ...message }).replaceAll('"DEEP"', () => deep)) as object;
  const connect = async (transport: McpTransport): Promise<void> => {
    const wire = transport as McpTransport & { onmessage?: (message: { id?: number; method?: string }) => void };
    wire.onmessage = ({ id, method = "" }) => {
      if (id === undefined || method === "") return;
      if (method === "tools/call" && extra !== undefined) void wire.send(withDeep(extra));
      void wire.send(withDeep({ id, result: method === changed ? changedResult : (RESULTS[method] ?? {}) }));
    };
    await wire.start();
  };
  return { type: "memory", name: "deep", timeoutMs: 5_000, connectTimeoutMs: 5_000, open: () => ({ connect }) };
}
