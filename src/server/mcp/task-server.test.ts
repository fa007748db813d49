import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { expect, it } from "vitest";
import { openScene } from "../../pool/test-scene.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { call, say, startModelServer } from "../../testing/index.ts";
import { serveHttp } from "../http/index.ts";

const TOML = '[agents.own]\nbackend = "api"\nmodel = "anthropic/x"\n';

/** Connects the official client to `/mcp` of a server that runs tasks. */
async function openMcp({ query = "", ...options }: Parameters<typeof openScene>[0] & { readonly query?: string } = {}) {
  const owned = new DisposeStack();
  const scene = owned.use(await openScene(options));
  const server = owned.use(
    await serveHttp(scene.rookery, { port: 0, version: "1.2.3", env: scene.env, cwd: scene.repository.path }),
  );
  const connect = async (url = `${server.url}/mcp${query}`, token = server.token) => {
    const client = new Client({ name: "test", version: "1" });
    const headers = { authorization: `Bearer ${token}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    owned.defer(() => client.close());
    return client;
  };
  const client = await connect();
  scene.run();
  return {
    ...scene,
    server,
    client,
    connect,
    /** Calls a tool and returns its structured result. */
    use: async (name: string, input: object = {}): Promise<Record<string, unknown>> => {
      const result = (await client.callTool({ name, arguments: { ...input } })) as CallToolResult;
      return { ...result.structuredContent, isError: result.isError };
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

it("starts, follows, shows, diffs and merges a task", async () => {
  await using s = await openMcp();
  const started = await s.use("start_task", { prompt: "run: echo made > made.txt", id: "t", agent: "robin" });
  expect(started).toMatchObject({ id: "t", agent: "robin" });
  const seen: string[] = [];
  let { cursor } = started;
  for (let status: unknown; status !== "done";) {
    const followed = await s.use("follow_task", { id: "t", cursor, wait_seconds: 20 });
    expect(followed["isError"]).toBeUndefined();
    seen.push(...(followed["events"] as { type: string }[]).map(({ type }) => type));
    expect(["queued", "preparing", "running", "done"]).toContain(followed["status"]);
    ({ cursor, status } = followed);
  }
  expect(seen).toEqual(["task.started", "stage.started", "turn.ended", "stage.ended", "task.ended"]);
  expect(await s.use("follow_task", { id: "t", cursor })).toMatchObject({ events: [], cursor, more: false });
  expect(await s.use("show_task", { id: "t" })).toMatchObject({ status: "done", worktree: { branch: "rookery/t" } });
  expect(await s.use("list_tasks", { status: ["done"] })).toMatchObject({ tasks: [{ id: "t" }] });
  const diff = await s.use("diff_task", { id: "t", patch: true });
  expect(diff).toMatchObject({ files: [{ path: "made.txt", change: "added" }], truncated: false });
  expect(diff["patch"]).toContain("+made");
  expect(await s.use("merge_task", { id: "t", dry_run: true })).toMatchObject({ outcome: "merged", dryRun: true });
  expect(await s.use("merge_task", { id: "t" })).toMatchObject({ outcome: "merged", dryRun: false, into: "main" });
  expect(await s.repository.read("made.txt")).toBe("made\n");
});

it("tells a task that has ended to continue, and stops one that runs", async () => {
  await using s = await openMcp();
  await s.use("start_task", { prompt: "run: true", id: "t" });
  await s.until("t", "done");
  await s.use("tell_task", { id: "t", message: "run: until [ -e go ]; do sleep 0.02; done" });
  await s.until("t", "running");
  expect(await s.use("stop_task", { id: "t", reason: "enough" })).toMatchObject({ status: "stopped" });
});

it("returns an error with a code for unknown tasks, cursors and arguments", async () => {
  await using s = await openMcp();
  const missing = await s.use("show_task", { id: "none" });
  expect(missing).toMatchObject({ isError: true, code: "task_not_found" });
  await s.tasks.start({ id: "t", prompt: "run: true" });
  expect(await s.use("follow_task", { id: "t", cursor: 1e9 })).toMatchObject({ isError: true, code: "input_invalid" });
  for (const extra of [{ force: true }, { wait_seconds: 51 }, { id: 7 }, { id: "../t" }]) {
    const refused = await s.use("follow_task", { id: "t", ...extra });
    expect(refused).toMatchObject({ isError: true, code: "input_invalid" });
  }
  const merge = await s.use("merge_task", { id: "t", gate: "touch own" });
  expect(merge).toMatchObject({ isError: true, code: "input_invalid" });
  await expect(s.client.callTool({ name: "nothing" })).rejects.toThrow("there is no tool nothing");
});

it("reads in pages of a bounded size what a task has done, without waiting", async () => {
  const stages = Array.from({ length: 50 }, (_, at) => `{ name = "s${at}", run = "true" }`).join(", ");
  await using s = await openMcp({ toml: `[pipelines.p]\nstages = [${stages}]\n` });
  await s.tasks.start({ id: "t", prompt: "x", pipeline: "p" });
  await s.until("t", "done");
  const first = await s.use("follow_task", { id: "t", wait_seconds: 0 });
  expect((first["events"] as object[]).length).toBe(100);
  expect(first).toMatchObject({ more: true, status: "done" });
  const second = await s.use("follow_task", { id: "t", cursor: first["cursor"], wait_seconds: 0 });
  expect((second["events"] as object[]).length).toBeGreaterThan(0);
});

/** A task of the built-in agent that asks before it runs a command. */
async function openAsking(query: string) {
  const owned = new DisposeStack();
  const model = await startModelServer([call("bash", { command: "touch asked" }), say("Done.")]);
  owned.defer(() => model.close());
  const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake-key-of-a-test" };
  const s = owned.use(await openMcp({ toml: TOML, env, query }));
  const { cursor } = await s.use("start_task", { prompt: "go", id: "t", agent: "own" });
  await s.until("t", "waiting");
  const followed = await s.use("follow_task", { id: "t", cursor, wait_seconds: 20 });
  return { ...s, followed, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

it("shows what a task asks, but lets the model neither answer nor start a task that need not ask", async () => {
  await using s = await openAsking("");
  expect(s.followed).toMatchObject({ status: "waiting" });
  expect(JSON.stringify(s.followed["events"])).toContain("r1 asks for permission: ");
  const requests = [{ requestId: "r1", kind: "permission", tool: "bash" }];
  expect(await s.use("show_task", { id: "t" })).toMatchObject({ waitingFor: ["r1"], requests });
  const { tools } = await s.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...["list_agents", "start_task", "list_tasks", "show_task", "follow_task", "tell_task", "stop_task", "diff_task"],
    "merge_task",
  ]);
  for (const { inputSchema } of tools) expect(inputSchema).toMatchObject({ additionalProperties: false });
  await expect(
    s.client.callTool({ name: "answer_task", arguments: { id: "t", request_id: "r1", answer: "allow" } }),
  ).rejects.toThrow("there is no tool answer_task");
  const all = await s.use("start_task", { prompt: "x", permissions: "all" });
  expect(all).toMatchObject({ isError: true, code: "input_invalid" });
  expect(JSON.stringify([s.followed, await s.use("list_agents")])).not.toContain("fake-key");
});

it("lets the model answer if the URL asks for it", async () => {
  await using s = await openAsking("?answers=true");
  const unknown = await s.use("answer_task", { id: "t", request_id: "r9", answer: "allow" });
  expect(unknown).toMatchObject({ isError: true, code: "request_not_found" });
  await s.use("answer_task", { id: "t", request_id: "r1", answer: "allow" });
  await s.until("t", "done");
  expect(await s.use("diff_task", { id: "t" })).toMatchObject({ files: [{ path: "asked" }] });
});

it("refuses requests without the token, of other hosts and origins, and closes with connected clients", async () => {
  await using s = await openMcp();
  await expect(s.connect(undefined, "wrong")).rejects.toThrow();
  const url = `${s.server.url}/mcp`;
  const authorization = `Bearer ${s.server.token}`;
  expect((await fetch(url, { method: "POST" })).status).toBe(401);
  expect((await fetch(url, { headers: { authorization, origin: "http://evil.example" } })).status).toBe(403);
  expect((await fetch(`${url}?answers=yes`, { method: "POST", headers: { authorization } })).status).toBe(400);
  const put = await fetch(url, { method: "PUT", headers: { authorization } });
  expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, POST, DELETE, HEAD, OPTIONS"]);
  const closing = performance.now();
  await s.server.close(); // the client still holds its stream
  expect(performance.now() - closing).toBeLessThan(5_000);
});
