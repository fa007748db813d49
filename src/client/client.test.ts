import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Tasks } from "../domain/index.ts";
import { appendNotices, openHttp, type HttpScene } from "../server/http/test-scene.ts";
import { builtEnvironment, temporaryRepository } from "../testing/index.ts";
import { createClient, remoteTasks, type FeedEvent, type RookeryClient } from "./index.ts";

let scene: HttpScene;
let client: RookeryClient;
beforeEach(async () => {
  scene = await openHttp([], { times: { patience: 20, grace: 500 } });
  client = createClient({ url: `${scene.server.url}/`, token: scene.server.token });
});
afterEach(() => scene[Symbol.asyncDispose]());

it("matches the current OpenAPI document", { timeout: 60_000 }, async () => {
  const script = fileURLToPath(new URL("../../scripts/client.mjs", import.meta.url));
  const env = builtEnvironment({ home: scene.home });
  await promisify(execFile)(process.execPath, [script, "--check"], { env });
});

it("loads nothing that needs Node.js", () => {
  const loaded = new Set<string>();
  const look = (file: URL): void => {
    if (loaded.has(file.href)) return;
    loaded.add(file.href);
    const text = readFileSync(file, "utf8").replaceAll(/^(?:import|export) type .*$/gm, "");
    // connectLocal takes modules of Node from `process` when it is called, and says so in a browser
    const forbidden = file.href.endsWith("/local.ts") ? /from "node:/ : /from "node:|process\.|Buffer\b|require\(/;
    expect(text, file.href).not.toMatch(forbidden);
    for (const [, name = ""] of text.matchAll(/from "(\.[^"]+)"/g)) look(new URL(name, file));
  };
  for (const name of readdirSync(new URL(".", import.meta.url))) {
    if (!name.includes("test") && name !== "schema.ts") look(new URL(name, import.meta.url));
  }
  expect(loaded.size).toBeGreaterThan(4);
});

it("has typed methods for every route", async () => {
  const { data } = await client.GET("/v1/health");
  expect(data).toMatchObject({ ok: true, pid: process.pid });
  const sessionId = await scene.written(2);
  const page = await client.GET("/v1/sessions/{id}/events", {
    params: { path: { id: sessionId }, query: { limit: 1 } },
  });
  expect(page.data?.events[0]?.type).toBe("session.opened");
  const missing = await client.GET("/v1/sessions/{id}", { params: { path: { id: "ses_x" } } });
  expect(missing.error).toMatchObject({ code: "session_not_found", status: 404 });
});

describe("follow", () => {
  const take = async (events: AsyncIterable<FeedEvent>, count: number): Promise<FeedEvent[]> => {
    const taken: FeedEvent[] = [];
    for await (const event of events) if (taken.push(event) === count) break;
    return taken;
  };

  it("yields a session from its cursor and closes its connection", async () => {
    const session = await scene.written(20);
    const taken = await take(client.follow({ session, after: 5 }), 16);
    expect(taken.map(({ position }) => position)).toEqual(Array.from({ length: 16 }, (_, at) => at + 6));
    expect(taken[0]?.event).toMatchObject({ type: "message.delta", seq: 6 });
    await vi.waitFor(async () => expect((await client.GET("/v1/health")).data?.streams).toBe(0));
  });

  it("resumes after server restarts without gaps or duplicates", async () => {
    const session = await scene.written(10);
    const seen: number[] = [];
    const over = new AbortController();
    const { port } = scene.server;
    const done = (async () => {
      for await (const { position } of client.follow({ session, signal: over.signal })) seen.push(position);
    })();
    await vi.waitFor(() => expect(seen).toHaveLength(11));
    for (let restarts = 1; restarts <= 3; restarts += 1) {
      if (restarts === 1) await scene.server.close();
      await appendNotices(scene.store, session, seen.length, 10);
      await using _ = await scene.serve({ port, token: scene.server.token });
      await vi.waitFor(() => expect(seen).toHaveLength(11 + restarts * 10));
    }
    expect(seen).toEqual(Array.from({ length: 41 }, (_, at) => at + 1));
    over.abort();
    await done;
  });

  it("reconnects when a connection is silent for too long", async () => {
    const session = await scene.written(3);
    let calls = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      calls += 1;
      if (calls > 1) return globalThis.fetch(input, init);
      const mute = new ReadableStream({
        start: (controller) => init?.signal?.addEventListener("abort", () => controller.error(new Error("aborted"))),
      });
      return new Response(mute, { headers: { "content-type": "text/event-stream" } });
    };
    const other = createClient({ url: scene.server.url, token: scene.server.token, fetch });
    expect(await take(other.follow({ session, silenceMs: 100 }), 4)).toHaveLength(4);
    expect(calls).toBe(2);
  });

  it.each([
    ["a missing session", { session: "ses_none" }, "session_not_found"],
    ["a missing task", { task: "none" }, "task_not_found"],
    ["a cursor beyond the end", { everything: true as const, after: 99 }, "input_invalid"],
  ])("fails immediately for %s", async (_, query, code) => {
    await expect(take(client.follow(query), 1)).rejects.toMatchObject({ code });
  });

  it("fails with a wrong token, and after too many failed attempts", async () => {
    const stranger = createClient({ url: scene.server.url, token: "x".repeat(20) });
    await expect(take(stranger.follow({ everything: true }), 1)).rejects.toMatchObject({ code: "unauthorized" });
    await scene.server.close();
    const gone = take(client.follow({ everything: true, tries: 2 }), 1);
    await expect(gone).rejects.toMatchObject({ code: "server_unreachable" });
  });

  it("fails when the token becomes invalid during the stream", async () => {
    const session = await scene.written(2);
    const { port } = scene.server;
    const events = client.follow({ session })[Symbol.asyncIterator]();
    for (let seq = 1; seq <= 3; seq += 1) expect(await events.next()).toMatchObject({ value: { position: seq } });
    await scene.server.close();
    await using _ = await scene.serve({ port, token: "another-token-than-before" });
    await expect(events.next()).rejects.toMatchObject({ code: "unauthorized" });
  });

  /** A client whose every request gets this response, as from a proxy. */
  const createFixedClient = (text: string, type = "text/event-stream") => {
    let calls = 0;
    const fetch: typeof globalThis.fetch = () => {
      calls += 1;
      return Promise.resolve(new Response(text, { headers: { "content-type": type } }));
    };
    const { url, token } = scene.server;
    return { client: createClient({ url, token, fetch }), calls: () => calls };
  };
  const failing = (code: string) => `event: failed\ndata: {"code":"${code}","detail":"so it is"}\n\n`;

  it.each([
    ["a server that closes every connection", ": hello\n\n", "text/event-stream", "server_unreachable", 3],
    ["a server that is not Rookery", "<p>Please log in", "text/html", "server_unreachable", 3],
    ["a stream with a transient error", failing("store_locked"), "text/event-stream", "store_locked", 3],
    ["a stream with a permanent error", failing("log_corrupt"), "text/event-stream", "log_corrupt", 1],
  ])("gives up on %s", async (_, text, type, code, tries) => {
    const { client: other, calls } = createFixedClient(text, type);
    await expect(take(other.follow({ everything: true, tries: 3 }), 1)).rejects.toMatchObject({ code });
    expect(calls()).toBe(tries);
  });

  it("fails when the session is deleted", async () => {
    const session = await scene.written(1);
    const events = client.follow({ session, after: 2 })[Symbol.asyncIterator]();
    const next = events.next();
    await vi.waitFor(async () => expect((await client.GET("/v1/health")).data?.streams).toBe(1));
    const [outcome] = await Promise.allSettled([next, scene.rookery.deleteSession(session)]);
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "session_not_found" } });
  });

  it("calls onDeleted for a session that the server deletes, and other followers see no message", async () => {
    const [gone, kept] = [await scene.written(1), await scene.written(1)];
    const { head } = (await scene.get("/v1/events?limit=0")).json;
    const deleted: string[] = [];
    const onDeleted = (sessionId: string): void => void deleted.push(sessionId);
    const told = take(client.follow({ everything: true, after: head, onDeleted }), 1);
    const untold = take(client.follow({ everything: true, after: head }), 1);
    await vi.waitFor(async () => expect((await client.GET("/v1/health")).data?.streams).toBe(2));
    await client.DELETE("/v1/sessions/{id}", { params: { path: { id: gone } } });
    await appendNotices(scene.store, kept, 2, 1);
    expect(await told).toMatchObject([{ event: { sessionId: kept } }]);
    expect(await untold).toMatchObject([{ event: { sessionId: kept } }]);
    expect(deleted).toEqual([gone]);
  });

  it("ends without an error on return, even while waiting", async () => {
    const events = client.follow({ everything: true })[Symbol.asyncIterator]();
    const next = events.next();
    await vi.waitFor(async () => expect((await client.GET("/v1/health")).data?.streams).toBe(1));
    await events.return?.();
    expect(await next).toMatchObject({ done: true });
  });
});

describe("remoteTasks", () => {
  it("starts, lists, shows and follows tasks like local ones", async () => {
    await using repository = await temporaryRepository();
    const tasks = remoteTasks(client);
    const started = await tasks.start({
      prompt: "Add a page",
      id: "page",
      cwd: repository.path,
      agent: "anthropic",
      budget: { usd: 1 },
    });
    expect(started).toEqual(await scene.rookery.tasks.show("page"));
    expect(await tasks.list({ status: ["queued", "running"], cwd: repository.path })).toHaveLength(1);
    expect(await tasks.list({ status: ["done"] })).toEqual([]);
    expect(await tasks.show("page")).toMatchObject({ id: "page", status: "queued", usage: { inputTokens: 0 } });
    for await (const { position, event } of tasks.follow({ task: "page" })) {
      expect({ position, event }).toMatchObject({ position: 1, event: { type: "task.created", taskId: "page" } });
      break;
    }
    expect((await scene.get("/v1/tasks/page/events")).json.events).toHaveLength(1);
    expect(await tasks.stop("page", { reason: "enough" })).toMatchObject({ status: "stopped" });
    expect(await tasks.resume("page", { prompt: "go on" })).toMatchObject({ status: "queued" });
    await tasks.stop("page");
    expect(await tasks.remove("page", { force: true })).toMatchObject({ id: "page" });
    expect(await tasks.collect({ dryRun: true })).toMatchObject({ dryRun: true });
  });

  it.each<[string, (tasks: Tasks) => Promise<unknown>, string]>([
    ["a missing task", (tasks) => tasks.show("none"), "task_not_found"],
    ["an id with a path", (tasks) => tasks.show("../x"), "input_invalid"],
    ["a folder without a repository", (tasks) => tasks.start({ prompt: "x", cwd: scene.cwd }), "repository_missing"],
    ["a diff of a missing task", (tasks) => tasks.diff("none"), "task_not_found"],
    ["a merge of a missing task", (tasks) => tasks.merge("none", { gate: false }), "task_not_found"],
  ])("rejects with the server's error code for %s", async (_, ask, code) => {
    await expect(ask(remoteTasks(client))).rejects.toMatchObject({ name: "RookeryError", code });
  });

  it("waits for slow work and runs it once", async () => {
    const report = {
      outcome: "merged" as const,
      how: "merge" as const,
      into: "main",
      dryRun: false,
      conflicts: [],
      commits: 1,
    };
    let done = (): void => undefined;
    const merge = vi.fn(() => new Promise<typeof report>((resolve) => (done = () => resolve(report))));
    vi.spyOn(scene.rookery, "tasks", "get").mockReturnValue({ ...scene.rookery.tasks, merge });
    let asked = 0;
    const fetch: typeof globalThis.fetch = (...args) => {
      asked += 1;
      return globalThis.fetch(...args);
    };
    const merging = remoteTasks(createClient({ url: scene.server.url, token: scene.server.token, fetch })).merge("a");
    await vi.waitFor(() => expect(asked).toBeGreaterThan(3));
    done();
    expect(await merging).toEqual(report);
    expect(merge).toHaveBeenCalledTimes(1);
  });

  it("rejects with server_unreachable if there is no server", async () => {
    await scene.server.close();
    await expect(remoteTasks(client).list()).rejects.toMatchObject({ code: "server_unreachable" });
  });
});
