import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../repository.ts";
import { NOISE, startAcpAgent, type AcpScript } from "./index.ts";
import type { AcpStep } from "./steps/steps.ts";
import { open } from "./test-client.ts";

async function prompted(steps: readonly AcpStep[], more: AcpScript = {}) {
  const scene = open({ ...more, prompts: [steps], otherwise: [] });
  const sessionId = await scene.client.newSession();
  const response = scene.client.prompt(sessionId, "Go", "the-prompt");
  return { ...scene, sessionId, response };
}

describe("the output of a scripted agent", () => {
  it.each(Object.entries(NOISE))("can contain %s between two messages", async (_, noise) => {
    const bytes = typeof noise === "string" ? Buffer.from(noise) : Buffer.from(noise.base64, "base64");
    const input = new PassThrough();
    const output = new PassThrough();
    await using agent = startAcpAgent({ script: { onStart: [{ write: noise }, { send: {} }] }, input, output });
    const written: Buffer[] = [];
    output.on("data", (chunk: Buffer) => written.push(chunk));
    input.end();
    await agent.closed;
    expect(Buffer.concat(written)).toEqual(Buffer.concat([bytes, Buffer.from("{}\n")]));
  });

  it("can contain any value as a line, including a response without a request", async () => {
    const response = { jsonrpc: "2.0", id: 999, result: { stopReason: "end_turn" } };
    await using scene = await prompted([{ send: [response] }, { send: response }]);
    await scene.response;
    expect(scene.client.lines.slice(1, 3).map((line) => JSON.parse(line) as unknown)).toEqual([[response], response]);
  });

  it("can contain an answer twice, never, or with another id", async () => {
    const on = {
      "_own/twice": { answer: { times: 2, result: 2 } },
      "_own/never": { answer: { times: 0 } },
      "_own/wrong": { answer: { id: "wrong", merge: { seen: true } } },
    };
    await using scene = open({ on });
    const { client } = scene;
    for (const name of ["twice", "never", "wrong"]) client.send({ id: name, method: `_own/${name}` });
    await client.request("session/list", {}, "last");
    expect(client.messages.map(({ id, result }) => [id, result]).slice(0, 3)).toEqual([
      ["twice", 2],
      ["twice", 2],
      ["wrong", { seen: true }],
    ]);
    expect(client.messages).toHaveLength(4);
  });

  it("can split a character into two writes, with nothing in between", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const onStart = [{ atOnce: [[{ cut: { text: "né", pauseMs: 30 } }], [{ stderr: "" }, { send: "behind" }]] }];
    await using agent = startAcpAgent({ script: { onStart }, input, output });
    const chunks: Buffer[] = [];
    output.on("data", (chunk: Buffer) => chunks.push(chunk));
    input.end();
    await agent.closed;
    expect(chunks).toHaveLength(3);
    expect(chunks[0]?.at(-1)).toBe(0xc3);
    expect(Buffer.concat(chunks).toString()).toMatch(/"text":"né"\}\}\}\}\n"behind"\n$/);
  });

  it("reports a problem if the text of a cut step has no multi-byte character", async () => {
    await using scene = await prompted([{ cut: { text: "plain" } }]);
    expect((await scene.response).error?.code).toBe(-32603);
    expect(scene.agent.problems).toEqual(['the text of a cut step needs a character of several bytes: "plain"']);
  });

  it("can contain a line of an exact length", async () => {
    await using scene = await prompted([{ oversize: 3_000_000 }]);
    await scene.response;
    expect(scene.client.lines[1]).toHaveLength(3_000_000);
    expect(scene.client.updates()).toHaveLength(1);
  });

  it("can flood the client with numbered texts without losing one", async () => {
    await using scene = await prompted([{ flood: { count: 5_000, padding: "!" } }]);
    await scene.response;
    expect(scene.client.text()).toBe(Array.from({ length: 5_000 }, (_, number) => `${number}!`).join("|"));
  });

  it("is written only as fast as the client reads", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const script = { onStart: [{ flood: { count: 100_000, padding: "x".repeat(100) } }] };
    await using agent = startAcpAgent({ script, input, output });
    await once(output, "readable");
    await new Promise((resolve) => setImmediate(resolve));
    expect(output.readableLength + output.writableLength).toBeLessThan(1_000_000);
    output.destroy();
    await agent.close();
  });

  it("can contain updates for another session, and updates after the response", async () => {
    const other = { in: { session: "other", steps: [{ say: "from elsewhere" }] } };
    await using scene = open({ prompts: [{ steps: [other], after: [{ say: "tail" }] }] });
    const sessionId = await scene.client.newSession();
    await scene.client.prompt(sessionId);
    await scene.client.until(() => (scene.client.text().endsWith("tail") ? true : undefined));
    expect(scene.client.messages.map(({ params, result }) => params?.["sessionId"] ?? result)).toEqual([
      { sessionId },
      "other",
      { stopReason: "end_turn" },
      sessionId,
    ]);
  });
});

describe("the input of a scripted agent", () => {
  it("can be left unread for a while", async () => {
    await using folder = await temporaryFolder();
    const gate = join(folder.path, "gate");
    const steps = [{ listen: false }, { waitForFile: gate }, { listen: true }];
    await using scene = open({ on: { "_own/deaf": { steps } } });
    scene.client.send({ method: "_own/deaf" });
    const asked = scene.client.request("session/list");
    await scene.agent.receivedMethod("_own/deaf");
    await new Promise((resolve) => setImmediate(resolve));
    expect(scene.agent.received).toHaveLength(1);
    await writeFile(gate, "");
    expect((await asked).result).toEqual({ sessions: [] });
  });

  it("can be left unread for good", async () => {
    await using scene = open({ process: { deaf: true }, onStart: [{ send: { deaf: true } }] });
    let taken = true;
    for (let written = 0; taken && written < 1_000; written++) taken = scene.input.write("{}\n".repeat(1_000));
    expect(taken).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(scene.agent.received).toEqual([]);
  });

  it("rejects lines that are not JSON objects, and continues", async () => {
    await using scene = open({});
    scene.input.write('{"half\n[]\n"text"\n');
    await scene.client.request("session/list");
    expect(scene.client.messages.map(({ id, error }) => [id, error?.code]).slice(0, 3)).toEqual([
      [null, -32700],
      [null, -32600],
      [null, -32600],
    ]);
    expect(scene.agent.entries[0]).toEqual({ type: "malformed", line: '{"half' });
  });

  it("reports an id that two concurrent requests use", async () => {
    await using scene = open({ otherwise: [{ waitForMessage: "_go" }] });
    const first = await scene.client.newSession();
    const second = await scene.client.newSession();
    scene.client.send({ id: 1, method: "session/prompt", params: { sessionId: first, prompt: [] } });
    scene.client.send({ id: 1, method: "session/prompt", params: { sessionId: second, prompt: [] } });
    await scene.client.request("session/list");
    expect(scene.agent.problems).toEqual(["the client used id 1 for two concurrent requests"]);
  });
});

describe("a scripted agent in the process of a test", () => {
  it("ends its streams instead of exiting, after all its output", async () => {
    await using scene = await prompted([{ stderr: "dying\n" }, { say: "last words" }, { exit: { code: 3 } }]);
    expect(await scene.agent.closed).toEqual({ reason: "exit", code: 3, signal: null });
    await expect(scene.response).rejects.toThrow("the agent ended");
    expect(scene.client.text()).toBe("last words");
    expect(scene.agent.stderr).toBe("dying\n");
  });

  it("rejects a grandchild step", async () => {
    await using scene = await prompted([{ grandchild: { pidFile: "/nowhere" } }]);
    expect((await scene.response).error?.message).toMatch(/needs an agent that runs in a separate process/);
  });

  it("keeps running when its input ends, if the script says so", async () => {
    await using scene = await prompted([{ waitForMessage: "_go" }], { process: { ignoreEof: true } });
    scene.input.end('{"jsonrpc":"2.0","method":"_go"}\n');
    expect((await scene.response).result).toEqual({ stopReason: "end_turn" });
    const ended = await Promise.race([scene.agent.closed, new Promise((resolve) => setImmediate(resolve, "stays"))]);
    expect(ended).toBe("stays");
  });

  it("can be closed twice, in any state", async () => {
    await using scene = await prompted([{ say: "begun" }, { hang: true }]);
    await scene.client.until(() => (scene.client.text() === "begun" ? true : undefined));
    await scene.agent.close();
    await scene.agent.close();
    expect((await scene.agent.closed).reason).toBe("closed");
  });
});

it.each<[string, unknown, RegExp]>([
  ["a misspelled step", { prompts: [[{ sya: "hi" }]] }, /unknown step .*: \{"sya":"hi"\}/],
  ["two steps in one", { prompts: [[{ say: "a", think: "b" }]] }, /unknown step/],
  [
    "a misspelled nested step",
    { on: { "session/new": { after: [{ in: { session: "", steps: [{}] } }] } } },
    /unknown step/,
  ],
  ["a misspelled key", { promts: [] }, /unknown key promts/],
  ["prompts in the wrong place", { on: { "session/prompt": {} } }, /`prompts` and `otherwise`/],
])("rejects a script with %s", (_, script, words) => {
  const streams = { input: new PassThrough(), output: new PassThrough() };
  expect(() => startAcpAgent({ script: script as AcpScript, ...streams })).toThrow(words);
});
