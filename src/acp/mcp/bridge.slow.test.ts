import { spawn } from "node:child_process";
import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DisposeStack } from "../../stdx/index.ts";
import { builtEnvironment, temporaryFolder } from "../../testing/index.ts";
import { BRIDGE_VARIABLE, bridgeCommand, toBridgedDeclaration } from "./bridge-target.ts";
import type { RemoteDeclaration } from "./declaration.ts";
import { LoopbackHttp } from "../../mcp/endpoint/loopback.ts";
import { remoteDeclaration } from "./spec.ts";
import { connectTo, echo, serveHttp, serveSse, toolServer } from "./test-tools.ts";

const CLIENT = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "agent", version: "1" } };
const INITIALIZE = { id: 1, method: "initialize", params: CLIENT };

let scene: DisposeStack;
let home: string;

beforeEach(async () => {
  scene = new DisposeStack();
  home = scene.use(await temporaryFolder()).path;
});
afterEach(() => scene[Symbol.asyncDispose]());

it("passes requests, progress and questions in both directions, in order", async () => {
  const bridge = start(remoteDeclaration(scene.use(await LoopbackHttp.listen()).serve(toolServer()).spec));
  bridge.say({ id: 1, method: "initialize", params: { ...CLIENT, capabilities: { elicitation: {} } } });
  expect(await bridge.line()).toMatchObject({ id: 1, result: { serverInfo: { name: "tool-server" } } });
  bridge.say({ method: "notifications/initialized" });
  bridge.say({ id: "two", method: "tools/call", params: { name: "steps", _meta: { progressToken: "p" } } });
  expect(await bridge.line()).toMatchObject({ method: "notifications/progress", params: { progress: 1 } });
  expect(await bridge.line()).toMatchObject({ method: "notifications/progress", params: { progress: 2 } });
  expect(await bridge.line()).toMatchObject({ id: "two", result: { content: [{ text: "two steps" }] } });
  bridge.say({ id: 3, method: "tools/call", params: { name: "ask" } });
  const question = (await bridge.line()) as { id: number };
  expect(question).toMatchObject({ method: "elicitation/create", params: { message: "Which colour?" } });
  bridge.say({ id: question.id, result: { action: "accept", content: { colour: "green" } } });
  expect(await bridge.line()).toMatchObject({ id: 3, result: { content: [{ text: "they like green" }] } });
});

it("handles many concurrent calls", async () => {
  const declaration = remoteDeclaration(scene.use(await LoopbackHttp.listen()).serve(toolServer()).spec);
  const client = await connectTo(toBridgedDeclaration(declaration, bridgeCommand()), home);
  scene.defer(() => client.close());
  const many = await Promise.all(Array.from({ length: 300 }, (_, n) => echo(client, String(n))));
  expect(many).toEqual(Array.from({ length: 300 }, (_, n) => `echo ${n}`));
});

it("lets no call wait for another, even if the server answers in plain JSON", async () => {
  const held: (() => void)[] = [];
  const place = scene.use(
    await serveHttp((request, response) => {
      void readJson(request).then(({ id, method }) => {
        if (id === undefined) return response.writeHead(method === undefined ? 405 : 202).end();
        const answer = (): void => {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25" } }));
        };
        return method === "slow" ? void held.push(answer) : answer();
      });
    }),
  );
  const bridge = start({ type: "http", name: "plain", url: place.url, headers: [] });
  for (const message of [INITIALIZE, { id: 2, method: "slow" }, { id: 3, method: "fast" }]) bridge.say(message);
  expect(await bridge.line()).toMatchObject({ id: 1 });
  expect(await bridge.line()).toMatchObject({ id: 3 });
  for (const release of held) release();
  expect(await bridge.line()).toMatchObject({ id: 2 });
});

it("stops a call that the agent cancels", async () => {
  const server = toolServer();
  const declaration = remoteDeclaration(scene.use(await LoopbackHttp.listen()).serve(server).spec);
  const client = await connectTo(toBridgedDeclaration(declaration, bridgeCommand()), home);
  scene.defer(() => client.close());
  const controller = new AbortController();
  const call = client.callTool({ name: "hang" }, undefined, { signal: controller.signal });
  call.catch(() => undefined);
  await server.hanging.promise;
  controller.abort();
  await server.stopped.promise;
  await expect(call).rejects.toThrow();
});

it("exits at the end of stdin and ends the session", async () => {
  const server = toolServer();
  const bridge = start(remoteDeclaration(scene.use(await LoopbackHttp.listen()).serve(server).spec));
  bridge.say(INITIALIZE);
  expect(await bridge.line()).toMatchObject({ id: 1, result: { serverInfo: { name: "tool-server" } } });
  expect(server.live).toBe(1);
  bridge.stdin.end();
  expect(await bridge.ended).toEqual({ code: 0, stderr: "" });
  expect(server.live).toBe(0);
});

it("reports a failed connection in one line and to the agent", async () => {
  const place = await serveHttp(() => undefined);
  await place[Symbol.asyncDispose]();
  const bridge = start({ type: "http", name: "gone", url: `${place.url}/mcp?key=secret`, headers: [] });
  bridge.say(INITIALIZE);
  expect(await bridge.line()).toMatchObject({ id: 1, error: { code: -32603 } });
  const { code, stderr } = await bridge.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^mcp-bridge: ${place.url}/mcp: .*ECONNREFUSED.*\n$`));
});

it("reports in one line that an event stream cannot be opened", async () => {
  const place = scene.use(await serveHttp((_, response) => response.writeHead(403).end("no\nentry")));
  const { code, stderr } = await start({ type: "sse", name: "closed", url: place.url, headers: [] }).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^mcp-bridge: .*403.*\n$/);
});

it("reports a refusal in one line", async () => {
  const declaration = remoteDeclaration(scene.use(await LoopbackHttp.listen()).serve(toolServer()).spec);
  const bridge = start({ ...declaration, headers: [] });
  bridge.say(INITIALIZE);
  const { code, stderr } = await bridge.ended;
  expect(code).toBe(1);
  expect(stderr.split("\n")).toHaveLength(2);
});

it.each(["http", "sse"])("answers pending requests and exits when the server is gone (%s)", async (type) => {
  const server = toolServer();
  const loopback = await LoopbackHttp.listen();
  const sse = await serveSse(server);
  const declaration = remoteDeclaration(loopback.serve(server).spec);
  const bridge = start(type === "http" ? declaration : { type: "sse", name: "s", url: sse.url, headers: [] });
  bridge.say(INITIALIZE);
  await bridge.line();
  bridge.say({ method: "notifications/initialized" });
  bridge.say({ id: 2, method: "tools/call", params: { name: "hang" } });
  await server.hanging.promise;
  await Promise.all([loopback[Symbol.asyncDispose](), sse[Symbol.asyncDispose]()]);
  expect(await bridge.line()).toMatchObject({ id: 2, error: { code: -32603 } });
  expect((await bridge.ended).code).toBe(1);
});

it("exits when its session is lost, although the server still runs", async () => {
  const server = toolServer();
  const bridge = start(remoteDeclaration(scene.use(await LoopbackHttp.listen()).serve(server).spec));
  bridge.say(INITIALIZE);
  await bridge.line();
  await server.latest?.close();
  bridge.say({ id: 2, method: "tools/list" });
  expect(await bridge.line()).toMatchObject({ id: 2, error: { code: -32603 } });
  expect(await bridge.ended).toMatchObject({ code: 1, stderr: expect.stringContaining("session") });
});

it("exits with the event stream of its session", async () => {
  const place = scene.use(await serveSse(toolServer()));
  const bridge = start({ type: "sse", name: "s", url: place.url, headers: [] });
  bridge.say(INITIALIZE);
  await bridge.line();
  place.http.closeAllConnections();
  expect((await bridge.ended).code).toBe(1);
});

it.each([
  ["is not set", undefined],
  ["is not JSON", "{"],
  ["has no address", '{"type":"http","headers":[]}'],
  ["has an invalid address", '{"type":"http","url":"file:///etc/passwd","headers":[]}'],
])("exits immediately if its variable %s", async (_, value) => {
  const bridge = start(undefined, value);
  const { code, stderr } = await bridge.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^mcp-bridge: ${BRIDGE_VARIABLE}.*\n$`));
});

async function readJson(request: IncomingMessage): Promise<{ id?: number; method?: string }> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text === "" ? "{}" : text) as { id?: number; method?: string };
}

/** Starts the real program as an agent would. */
function start(declaration: RemoteDeclaration | undefined, value?: string) {
  const stdio = declaration === undefined ? undefined : toBridgedDeclaration(declaration, bridgeCommand());
  const set = stdio?.env[0]?.value ?? value;
  const [program = "", ...args] = bridgeCommand();
  const extra: Record<string, string> = set === undefined ? {} : { [BRIDGE_VARIABLE]: set };
  const child = spawn(program, args, { env: builtEnvironment({ home, extra }), stdio: "pipe" });
  scene.defer(() => child.kill("SIGKILL"));
  child.stdin.on("error", () => undefined); // it may have exited before the write
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, stderr }));
  });
  const line = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value ?? "null"));
  const say = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return { stdin: child.stdin, say, ended, line };
}
