import { PassThrough, Readable, Writable } from "node:stream";
import { client, ndJsonStream, type NewSessionResponse, type SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { STABLE_UPDATES, startAcpAgent, type AcpScript } from "./index.ts";

const SETTINGS = {
  modes: { currentModeId: "ask", availableModes: ["ask", "code"].map((id) => ({ id, name: id })) },
  configOptions: [
    {
      type: "select" as const,
      id: "model",
      name: "Model",
      category: "model",
      currentValue: "small",
      options: ["small", "large"].map((value) => ({ value, name: value })),
    },
  ],
};

/** Connects the official client, which answers every callback, and records what it sees. */
async function connected(script: AcpScript) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const agent = startAcpAgent({ script, input, output });
  const updates: SessionUpdate[] = [];
  const connection = client({ name: "official" })
    .onRequest("session/request_permission", ({ params }) => ({
      outcome: { outcome: "selected", optionId: params.options[0]?.optionId ?? "" },
    }))
    .onRequest("fs/read_text_file", ({ params }) => ({ content: `text of ${params.path}` }))
    .onRequest("fs/write_text_file", () => ({}))
    .onRequest("terminal/create", () => ({ terminalId: "t" }))
    .onRequest("terminal/wait_for_exit", () => ({ exitCode: 3 }))
    .onRequest("terminal/output", () => ({ output: "out", truncated: false }))
    .onRequest("terminal/kill", () => ({}))
    .onRequest("terminal/release", () => ({}))
    .onRequest("elicitation/create", () => ({ action: "accept", content: { answer: "42" } }))
    .onNotification("elicitation/complete", () => undefined)
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .connect(ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>));
  await connection.agent.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: true,
      elicitation: { form: {}, url: {} },
    },
  });
  const said = () =>
    updates.flatMap((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? [update.content.text] : [],
    );
  return {
    agent,
    official: connection.agent,
    updates,
    said,
    async [Symbol.asyncDispose]() {
      connection.close();
      await agent.close();
    },
  };
}

const NEW = { cwd: "/project", mcpServers: [] };
const PROMPT = [{ type: "text" as const, text: "Go" }];

it("sends stable updates that the official client can read", async () => {
  const sent = Object.values(STABLE_UPDATES);
  await using scene = await connected({ prompts: [sent.map((update) => ({ update }))] });
  const { sessionId }: NewSessionResponse = await scene.official.request("session/new", NEW);
  expect(await scene.official.request("session/prompt", { sessionId, prompt: PROMPT })).toEqual({
    stopReason: "end_turn",
  });
  expect(scene.updates).toEqual(sent);
});

it("sends requests that the official client can answer", async () => {
  await using scene = await connected({
    prompts: [
      [
        { permission: { on: { allow_once: [{ say: "allowed" }] } } },
        { readFile: { path: "/project/a" } },
        { writeFile: { path: "/project/b", content: "b" } },
        { terminal: { command: "ls", then: ["wait_for_exit", "output", "kill", "release"] } },
        { elicit: { message: "How many?" } },
        { elicit: { message: "Where?", url: "https://agent.invalid" } },
      ],
    ],
  });
  const { sessionId }: NewSessionResponse = await scene.official.request("session/new", NEW);
  await scene.official.request("session/prompt", { sessionId, prompt: PROMPT });
  const accepted = 'elicitation/create: {"action":"accept","content":{"answer":"42"}}';
  expect(scene.said()).toEqual([
    'session/request_permission: {"outcome":{"outcome":"selected","optionId":"allow_once"}}',
    "allowed",
    'fs/read_text_file: {"content":"text of /project/a"}',
    "fs/write_text_file: {}",
    'terminal/create: {"terminalId":"t"}',
    'terminal/wait_for_exit: {"exitCode":3}',
    'terminal/output: {"output":"out","truncated":false}',
    "terminal/kill: {}",
    "terminal/release: {}",
    accepted,
    accepted,
  ]);
  expect(scene.agent.problems).toEqual([]);
});

it("answers every method of the official client", async () => {
  await using scene = await connected({
    ...SETTINGS,
    auth: {},
    sessions: [{ sessionId: "old", cwd: "/project", history: [STABLE_UPDATES.agent_message_chunk] }],
    otherwise: [{ say: "begun" }, { waitForCancel: true }],
  });
  const { official, updates } = scene;
  await expect(official.request("session/new", NEW)).rejects.toMatchObject({ code: -32000 });
  await official.request("authenticate", { methodId: "scripted" });
  const { sessionId, ...settings }: NewSessionResponse = await official.request("session/new", NEW);
  expect(settings).toEqual(SETTINGS);

  const prompted = official.request("session/prompt", { sessionId, prompt: PROMPT });
  await expect.poll(scene.said).toEqual(["begun"]);
  await official.notify("session/cancel", { sessionId });
  expect(await prompted).toEqual({ stopReason: "cancelled" });

  await official.request("session/set_mode", { sessionId, modeId: "code" });
  const large = { sessionId, configId: "model", value: "large" };
  expect(await official.request("session/set_config_option", large)).toMatchObject({
    configOptions: [{ id: "model", currentValue: "large" }],
  });

  updates.length = 0;
  await official.request("session/load", { ...NEW, sessionId: "old" });
  expect(updates).toEqual([STABLE_UPDATES.agent_message_chunk]);
  await official.request("session/resume", { ...NEW, sessionId: "old" });
  expect((await official.request("session/list", { cwd: "/project" })).sessions).toHaveLength(2);
  expect(await official.request("session/close", { sessionId })).toEqual({});
  expect(await official.request("session/delete", { sessionId })).toEqual({});
  expect((await official.request("session/list", {})).sessions).toHaveLength(1);
  expect(await official.request("logout", {})).toEqual({});
  await expect(official.request("session/new", NEW)).rejects.toMatchObject({ code: -32000 });
  expect(scene.agent.problems).toEqual([]);
});
