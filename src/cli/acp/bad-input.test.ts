import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RPC } from "../../acp/errors.ts";
import type { Message } from "../../server/acp/test-scene.ts";
import { deferred, type Deferred } from "../../stdx/index.ts";
import { say } from "../../testing/index.ts";
import { openEditorScene, type RawCommand } from "./test-scene.ts";

type Scene = Awaited<ReturnType<typeof openEditorScene>>;

/** All tests use one server, which must keep running. */
let scene: Scene;
let raw: RawCommand;
const answers: Message[] = [];
let more: Deferred<void> = deferred();

beforeAll(async () => {
  scene = await openEditorScene(() => say(Array<string>(50).fill("x "), { chunkDelayMs: 20 }));
  raw = scene.raw();
  createInterface({ input: raw.child.stdout }).on("line", (line) => {
    answers.push(JSON.parse(line) as Message);
    more.resolve();
    more = deferred();
  });
});
afterAll(() => scene[Symbol.asyncDispose]());

const write = (bytes: string | Uint8Array): void => void raw.child.stdin.write(bytes);
const send = (message: object): void => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

/** Waits for the next response. */
async function answer(to: number | string | null): Promise<Message> {
  for (;;) {
    const found = answers.findIndex(({ id, method }) => id === to && method === undefined);
    if (found >= 0) return answers.splice(found, 1)[0] as Message;
    await more.promise;
  }
}

let last = 1000;
async function asked(method: string, params?: unknown): Promise<Message> {
  last += 1;
  send({ id: last, method, params });
  return answer(last);
}

const goesOn = async (): Promise<void> => {
  expect((await asked("initialize", { protocolVersion: 1 })).result).toMatchObject({ protocolVersion: 1 });
};

describe("answers as specified and keeps running", () => {
  it.each<[string, string, number]>([
    ["invalid JSON", "{ not json", RPC.parseError],
    ["a list", '[{"jsonrpc":"2.0","id":1,"method":"initialize"}]', RPC.invalidRequest],
    ["a string", '"initialize"', RPC.invalidRequest],
    ["null", "null", RPC.invalidRequest],
    ["an object that is not a message", "{}", RPC.invalidRequest],
  ])("after %s", async (_, line, code) => {
    write(`${line}\n`);
    expect((await answer(null)).error).toMatchObject({ code });
    await goesOn();
  });

  it.each<[string, string, unknown, number]>([
    ["a string for params", "session/new", "x", RPC.invalidParams],
    ["a string for a list", "session/new", { cwd: "/", mcpServers: "x" }, RPC.invalidParams],
    ["a relative folder", "session/new", { cwd: "here", mcpServers: [] }, RPC.invalidParams],
    ["a session that does not exist", "session/prompt", { sessionId: "x", prompt: [] }, RPC.notFound],
    ["a session that does not exist", "session/load", { sessionId: "x", cwd: "/", mcpServers: [] }, RPC.notFound],
    ["a method that does not exist", "session/steal", {}, RPC.methodNotFound],
    ["an extension", "_other/thing", {}, RPC.methodNotFound],
  ])("after %s", async (_, method, params, code) => {
    expect((await asked(method, params)).error).toMatchObject({ code });
    await goesOn();
  });

  it("after an id that is in use", async () => {
    const { result } = await asked("session/new", { cwd: scene.cwd, mcpServers: [] });
    const { sessionId } = result as { sessionId: string };
    const prompt = {
      id: "same",
      method: "session/prompt",
      params: { sessionId, prompt: [{ type: "text", text: "Go" }] },
    };
    send(prompt);
    send({ ...prompt, method: "initialize", params: { protocolVersion: 1 } });
    expect((await answer("same")).error).toMatchObject({ code: RPC.invalidRequest });
    expect((await answer("same")).result).toMatchObject({ stopReason: "end_turn" });
  });

  it("after two prompts at once and a prompt for a closed session", async () => {
    const { result } = await asked("session/new", { cwd: scene.cwd, mcpServers: [] });
    const { sessionId } = result as { sessionId: string };
    const params = { sessionId, prompt: [{ type: "text", text: "Go" }] };
    const first = asked("session/prompt", params);
    expect((await asked("session/prompt", params)).error).toMatchObject({ code: RPC.invalidRequest });
    expect((await first).result).toMatchObject({ stopReason: "end_turn" });
    expect((await asked("session/close", { sessionId })).result).toEqual({});
    expect((await asked("session/prompt", params)).error).toMatchObject({ code: RPC.notFound });
  });

  it("after a response without a request", async () => {
    const before = answers.length;
    send({ id: 99_999, result: {} });
    send({ id: "what", error: { code: 1, message: "no" } });
    await goesOn();
    expect(answers.length).toBe(before);
  });

  it("after a 64 MB message", async () => {
    write(`{"jsonrpc":"2.0","id":"large","method":"session/prompt","params":{"x":"`);
    for (let megabytes = 0; megabytes < 64; megabytes += 1) {
      if (!raw.child.stdin.write("x".repeat(1024 * 1024))) {
        await new Promise((resolve) => raw.child.stdin.once("drain", resolve));
      }
    }
    write('"}}\n');
    expect((await answer("large")).error).toMatchObject({ code: RPC.invalidRequest });
    await goesOn();
  });

  it("after a character that arrives in two chunks", async () => {
    const line = Buffer.from('{"jsonrpc":"2.0","id":"é","method":"initialize","params":{"protocolVersion":1}}\n');
    const at = line.indexOf(0xc3) + 1;
    write(line.subarray(0, at));
    await goesOnLater();
    write(line.subarray(at));
    expect((await answer("é")).result).toMatchObject({ protocolVersion: 1 });
  });
});

/** Long enough for the first chunk to be read alone. */
async function goesOnLater(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}
