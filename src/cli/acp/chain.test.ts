// own process: its commands replace process.stdout.write
import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serveHttp } from "../../acp/mcp/test-tools.ts";
import type { AcpScript, AcpStep } from "../../testing/index.ts";
import { BUILT_COMMAND } from "../test-command.ts";
import { openEditorScene } from "./test-scene.ts";

const AGENT = fileURLToPath(new URL("../../../dist/testing/acp-agent.js", import.meta.url));

/** The source of an MCP server on stdio. */
const ON_STDIO = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } },
    "tools/list": { tools: [{ name: "greet", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "hello from stdio" }] },
  };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
});`;

const greet = (server: string): AcpStep => ({ callMcp: { server, tool: "greet" } });

type Scene = Awaited<ReturnType<typeof openEditorScene>>;

async function scripted(scene: Scene, script: AcpScript): Promise<string[]> {
  const file = join(scene.fixture.home, "script.json");
  await writeFile(file, JSON.stringify(script));
  return [process.execPath, AGENT, file];
}

async function mcpFile(scene: Scene, name: string, server: object): Promise<string> {
  const file = join(scene.fixture.home, `${name}.json`);
  await writeFile(file, JSON.stringify({ mcpServers: { [name]: server } }));
  return file;
}

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

it("adds the servers of its files to every session", async () => {
  await using scene = await openEditorScene([]);
  const agent = await scripted(scene, { otherwise: [greet("one"), greet("two")] });
  const server = { command: process.execPath, args: ["-e", ON_STDIO] };
  const files = [await mcpFile(scene, "one", server), await mcpFile(scene, "two", server)];
  const args = ["acp", "proxy", ...files.flatMap((file) => ["--mcp", file]), "--", ...agent];
  const editor = await scene.editor({ args });
  const session = await editor.client.session(scene.cwd).create();
  expect(await session.prompt("Go").readText()).toBe("one.greet: hello from stdiotwo.greet: hello from stdio");
  await editor.agent.transport.end();
  expect(await editor.agent.exit()).toMatchObject({ exitCode: 0 });
});

it("bridges an HTTP server for an agent that supports only stdio servers", async () => {
  await using scene = await openEditorScene([]);
  await using http = await serveHttp((request, response) => {
    void answerOf(request).then((answer) => {
      if (answer === undefined) return void response.writeHead(request.method === "POST" ? 202 : 405).end();
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  const agent = await scripted(scene, {
    initialize: { agentCapabilities: { mcpCapabilities: { http: false, sse: false, acp: false } } },
    otherwise: [greet("far")],
  });
  const file = await mcpFile(scene, "far", { type: "http", url: http.url });
  const editor = await scene.editor({ args: ["acp", "proxy", "--mcp", file, "--", ...agent] });
  const session = await editor.client.session(scene.cwd).create();
  expect(await session.prompt("Go").readText()).toBe("far.greet: hello from HTTP");
});

it("runs proxies in front of the agent", async () => {
  await using scene = await openEditorScene([]);
  const agent = await scripted(scene, { otherwise: [greet("one")] });
  const file = await mcpFile(scene, "one", { command: process.execPath, args: ["-e", ON_STDIO] });
  const proxies = [
    [process.execPath, BUILT_COMMAND, "acp", "proxy"],
    [process.execPath, BUILT_COMMAND, "acp", "proxy", "--mcp", file],
  ];
  const args = ["acp", "conductor", ...proxies.flatMap((words) => ["--proxy", quoted(words)]), "--", ...agent];
  const editor = await scene.editor({ args });
  const session = await editor.client.session(scene.cwd).create();
  expect(await session.prompt("Go").readText()).toBe("one.greet: hello from stdio");
  await editor.agent.transport.end();
  expect(await editor.agent.exit()).toMatchObject({ exitCode: 0 });
});

it("fails open requests and reports the exit if the agent exits", async () => {
  await using scene = await openEditorScene([]);
  const agent = await scripted(scene, { otherwise: [{ exit: { code: 3 } }] });
  const editor = await scene.editor({ args: ["acp", "proxy", "--", ...agent] });
  const session = await editor.client.session(scene.cwd).create();
  await expect(session.prompt("Go").finish()).rejects.toThrow("exit code 3");
  expect(await editor.agent.exit()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("the agent exited (exit code 3)") as string,
  });
});

let nowhere: Scene;
beforeAll(async () => {
  nowhere = await openEditorScene([]);
});
afterAll(() => nowhere[Symbol.asyncDispose]());

it.each([
  [["acp", "conductor"], 2, "nothing to run"],
  [["acp", "conductor", "--proxy", "a 'b", "--", "x"], 2, "unterminated quote or backslash"],
  [["acp", "proxy", "--mcp", "/no/such.json", "--", "x"], 2, "/no/such.json cannot be read"],
  [["acp", "proxy", "--", "/no/such/program"], 1, "/no/such/program"],
  [["acp", "check"], 2, "missing argument <command>"],
  [["acp", "check", "--only", "one", "--", "x"], 2, "--only must be check numbers"],
  [["acp", "check", "--only", "999", "--", "x"], 2, "there is no check 999"],
  [["acp", "check", "--", "/no/such/program"], 1, "/no/such/program"],
  [["acp", "trace", "/no/such/file"], 1, "/no/such/file"],
  [["acp", "registry", "gemni"], 2, "did you mean gemini?"],
  [["acp", "serv"], 2, 'unknown command "serv"'],
])("%j exits with %d and prints %s", async (args, code, words) => {
  const ended = await nowhere.fixture.rookery(args);
  expect([ended.code, ended.stdout, ended.stderr]).toEqual([code, "", expect.stringContaining(words)]);
});

it("lists the agents of the registry, and prints the command that starts one", async () => {
  const { fixture } = nowhere;
  const list = await fixture.rookery(["acp", "registry"]);
  expect(list.stdout).toMatch(/^gemini /m);
  const { stdout } = await fixture.rookery(["acp", "registry", "gemini"]);
  expect(stdout).toMatch(/^(\w+=\w+ )*npx -y .*\n$/);
  const json = await fixture.rookery(["acp", "registry", "gemini", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    from: "npx",
    command: expect.arrayContaining(["npx", "-y"]) as string[],
  });
});

async function answerOf(request: IncomingMessage): Promise<object | undefined> {
  if (request.method !== "POST") return undefined;
  const { id, method, params } = JSON.parse(await text(request)) as {
    id?: unknown;
    method: string;
    params?: { protocolVersion?: string };
  };
  if (id === undefined) return undefined;
  const serverInfo = { name: "t", version: "1" };
  const results: Record<string, object> = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo },
    "tools/list": { tools: [{ name: "greet", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "hello from HTTP" }] },
  };
  return { jsonrpc: "2.0", id, result: results[method] ?? {} };
}
