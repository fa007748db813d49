import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { z } from "zod";
import { STABLE_UPDATES, UNKNOWN_UPDATES, type AcpScript } from "./index.ts";
import { open, type LineClient, type Message, type Params } from "./test-client.ts";

type Definition = Record<string, unknown> & { "x-method"?: string; "x-side"?: string };

const schema = createRequire(import.meta.url)("@agentclientprotocol/sdk/schema/v1/schema.json") as {
  $schema: string;
  $defs: Record<string, Definition>;
};
/** Zod does not support these keywords. Here they only discriminate unions that a constant discriminates too. */
const UNKNOWN_TO_ZOD = ["not", "unevaluatedProperties"];
const $defs = slimmed(schema.$defs) as Record<string, Definition>;

/** Returns the schema of the params of an agent message, or of its answer to a method. */
const check = (method: string, kind: "Request" | "Notification" | "Response") => {
  const side = kind === "Response" ? "agent" : "client";
  const [name] =
    Object.entries($defs).find(
      ([key, found]) => found["x-method"] === method && found["x-side"] === side && key.endsWith(kind),
    ) ?? [];
  if (name === undefined) throw new Error(`the schema has no ${kind} of ${method}`);
  return z.fromJSONSchema({ $schema: schema.$schema, $ref: `#/$defs/${name}`, $defs } as never);
};

const SCRIPT: AcpScript = {
  auth: {},
  modes: { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }] },
  configOptions: [
    {
      type: "select",
      id: "model",
      name: "Model",
      category: "model",
      currentValue: "s",
      options: [{ value: "s", name: "S" }],
    },
    { type: "boolean", id: "fast", name: "Fast", currentValue: true },
  ],
  sessions: [{ sessionId: "old", cwd: "/project", title: "Old", history: Object.values(STABLE_UPDATES) }],
  pageSize: 1,
  prompts: [
    [
      ...Object.values(STABLE_UPDATES).map((update) => ({ update })),
      { say: "text" },
      { think: "thought" },
      { permission: {} },
      { readFile: { path: "/project/a" } },
      { writeFile: { path: "/project/a", content: "b" } },
      { terminal: { command: "ls", toolCallId: "call-1", then: ["wait_for_exit", "output", "kill", "release"] } },
      { elicit: { message: "How many?" } },
      { elicit: { message: "Where?", url: "https://agent.invalid" } },
    ],
    [{ stop: "refusal" }],
  ],
};

const ANSWERS = {
  "session/request_permission": { outcome: { outcome: "selected", optionId: "allow_once" } },
  "fs/read_text_file": { content: "" },
  "fs/write_text_file": {},
  "terminal/create": { terminalId: "t" },
  "terminal/wait_for_exit": { exitCode: 0 },
  "terminal/output": { output: "", truncated: false },
  "terminal/kill": {},
  "terminal/release": {},
  "elicitation/create": { action: "decline" },
};

const CLIENT = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {}, url: {} },
  session: { configOptions: { boolean: {} } },
};

it("sends only messages that match the schema of ACP v1", async () => {
  await using scene = open(SCRIPT, ANSWERS);
  const { client } = scene;
  const asked = await everyMethod(client);
  expect(scene.agent.problems).toEqual([]);
  expect(client.messages.flatMap((message) => wrongIn(message, asked))).toEqual([]);

  const written = new Set(
    client.messages.map(({ method, params }) => (method === "session/update" ? kind(params) : method)),
  );
  expect([...written]).toEqual(expect.arrayContaining([...Object.keys(STABLE_UPDATES), ...Object.keys(ANSWERS)]));
});

it("detects messages that do not match the schema", () => {
  const [unknown] = UNKNOWN_UPDATES;
  const update = (value: unknown) => ({ method: "session/update", params: { sessionId: "s", update: value } });
  const asked = new Map([["1", "session/prompt"]]);
  expect(wrongIn(update(STABLE_UPDATES.plan), asked)).toEqual([]);
  expect(wrongIn(update({ ...STABLE_UPDATES.plan, entries: "none" }), asked)).toHaveLength(1);
  expect(wrongIn(update(unknown), asked)).toHaveLength(1);
  expect(wrongIn({ id: "1", result: { stopReason: "tired" } }, asked)).toHaveLength(1);
});

/** Calls each method of the protocol once, and returns the method of each id. */
async function everyMethod(client: LineClient): Promise<Map<unknown, string>> {
  const asked = new Map<unknown, string>();
  const ask = async (method: string, params: Params): Promise<Message> => {
    asked.set(`id ${asked.size}`, method);
    return client.request(method, params, `id ${asked.size - 1}`);
  };
  const setUp = { cwd: "/project", mcpServers: [] };
  const prompt = [{ type: "text", text: "Go" }];
  await ask("initialize", { protocolVersion: 1, clientCapabilities: CLIENT });
  await ask("session/new", setUp);
  await ask("authenticate", { methodId: "scripted" });
  const { result } = await ask("session/new", setUp);
  const of = { sessionId: result?.["sessionId"] };
  await ask("session/prompt", { ...of, prompt });
  await ask("session/prompt", { ...of, prompt });
  await ask("session/set_mode", { ...of, modeId: "ask" });
  await ask("session/set_config_option", { ...of, configId: "model", value: "s" });
  await ask("session/set_config_option", { ...of, configId: "none", value: "s" });
  await ask("session/load", { ...setUp, sessionId: "old" });
  await ask("session/resume", { ...setUp, sessionId: "old" });
  await ask("session/list", {});
  await ask("session/close", of);
  await ask("session/delete", of);
  await ask("session/nothing", {});
  await ask("logout", {});
  return asked;
}

function wrongIn(message: Message, asked: ReadonlyMap<unknown, string>): unknown[] {
  const { id, method, params, result, error } = message;
  if (error !== undefined) return wrong(z.object({ code: z.int(), message: z.string() }), error, message);
  if (method === undefined) return wrong(check(asked.get(id) ?? "", "Response"), result, message);
  return wrong(check(method, id === undefined ? "Notification" : "Request"), params, message);
}

function wrong(type: z.ZodType, value: unknown, message: Message): unknown[] {
  const { error } = type.safeParse(value);
  return error === undefined ? [] : [[message, error.issues]];
}

function kind(params: Params = {}): unknown {
  return (params["update"] as Params)["sessionUpdate"];
}

function slimmed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(slimmed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inside]) => (UNKNOWN_TO_ZOD.includes(key) ? [] : [[key, slimmed(inside)]])),
  );
}
