import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Tasks } from "../domain/index.ts";
import { appendNotices, openHttp, type HttpScene } from "../server/http/test-scene.ts";
import { builtEnvironment, temporaryRepository } from "../testing/index.ts";
import { createClient, remoteTasks, type Followed, type RookeryClient } from "./index.ts";

let scene: HttpScene;
let client: RookeryClient;
beforeEach(async () => {
  scene = await openHttp([], { times: { patience: 20, grace: 500 } });
  client = createClient({ url: `${scene.door.url}/`, token: scene.door.token });
});
afterEach(() => scene[Symbol.asyncDispose]());

it("is written from the document as it is now", { timeout: 60_000 }, async () => {
  const script = fileURLToPath(new URL("../../scripts/client.mjs", import.meta.url));
  const env = builtEnvironment({ home: scene.home });
  await promisify(execFile)(process.execPath, [script, "--check"], { env });
});

it("runs where there is no Node: nothing that it loads is of Node", () => {
  const loaded = new Set<string>();
  const look = (file: URL): void => {
    if (loaded.has(file.href)) return;
    loaded.add(file.href);
    const text = readFileSync(file, "utf8").replaceAll(/^(?:import|export) type .*$/gm, "");
    expect(text, file.href).not.toMatch(/from "node:|process\.|Buffer\b|require\(/);
    for (const [, name = ""] of text.matchAll(/from "(\.[^"]+)"/g)) look(new URL(name, file));
  };
  for (const name of readdirSync(new URL(".", import.meta.url))) {
    if (!name.includes("test") && name !== "schema.ts") look(new URL(name, import.meta.url));
  }
  expect(loaded.size).toBeGreaterThan(4);
});

it("has every route with its types", async () => {
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

describe("following", () => {
  const take = async (events: AsyncIterable<Followed>, count: number): Promise<Followed[]> => {
    const taken: Followed[] = [];
    for await (const event of events) if (taken.push(event) === count) break;
    return taken;
  };

  it("brings a session from where one was, and leaves no connection behind", async () => {
    const session = await scene.written(20);
    const taken = await take(client.follow({ session, after: 5 }), 16);
    expect(taken.map(({ id }) => id)).toEqual(Array.from({ length: 16 }, (_, at) => at + 6));
    expect(taken[0]?.event).toMatchObject({ type: "message.delta", seq: 6 });
    await vi.waitFor(async () => expect((await client.GET("/v1/health")).data?.streams).toBe(0));
  });

  it("goes on after the server was restarted, without a gap or a double", async () => {
    const session = await scene.written(10);
    const seen: number[] = [];
    const over = new AbortController();
    const { port } = scene.door;
    const done = (async () => {
      for await (const { id } of client.follow({ session, signal: over.signal })) seen.push(id);
    })();
    await vi.waitFor(() => expect(seen).toHaveLength(11));
    for (let restarts = 1; restarts <= 3; restarts += 1) {
      if (restarts === 1) await scene.door.close();
      await appendNotices(scene.store, session, seen.length, 10);
      await using _ = await scene.serve({ port, token: scene.door.token });
      await vi.waitFor(() => expect(seen).toHaveLength(11 + restarts * 10));
    }
    expect(seen).toEqual(Array.from({ length: 41 }, (_, at) => at + 1));
    over.abort();
    await done;
  });

  it("takes a connection that says nothing any more for dead", async () => {
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
    const other = createClient({ url: scene.door.url, token: scene.door.token, fetch });
    expect(await take(other.follow({ session, silenceMs: 100 }), 4)).toHaveLength(4);
    expect(calls).toBe(2);
  });

  it.each([
    ["what is not there", { session: "ses_none" }, "session_not_found"],
    ["a task that is not there", { task: "none" }, "task_not_found"],
    ["from beyond the end", { everything: true as const, after: 99 }, "input_invalid"],
  ])("fails at once for %s", async (_, query, code) => {
    await expect(take(client.follow(query), 1)).rejects.toMatchObject({ code });
  });

  it("fails where it may not, and where nobody is for too long", async () => {
    const stranger = createClient({ url: scene.door.url, token: "x".repeat(20) });
    await expect(take(stranger.follow({ everything: true }), 1)).rejects.toMatchObject({ code: "unauthorized" });
    await scene.door.close();
    const gone = take(client.follow({ everything: true, tries: 2 }), 1);
    await expect(gone).rejects.toMatchObject({ code: "server_unreachable" });
  });

  it("fails when it may no more, in the middle", async () => {
    const session = await scene.written(2);
    const { port } = scene.door;
    const events = client.follow({ session })[Symbol.asyncIterator]();
    for (let seq = 1; seq <= 3; seq += 1) expect(await events.next()).toMatchObject({ value: { id: seq } });
    await scene.door.close();
    await using _ = await scene.serve({ port, token: "another-token-than-before" });
    await expect(events.next()).rejects.toMatchObject({ code: "unauthorized" });
  });

  /** As a proxy in between would: each connection is answered with this. */
  const answered = (text: string, type = "text/event-stream") => {
    let calls = 0;
    const fetch: typeof globalThis.fetch = () => {
      calls += 1;
      return Promise.resolve(new Response(text, { headers: { "content-type": type } }));
    };
    const { url, token } = scene.door;
    return { client: createClient({ url, token, fetch }), calls: () => calls };
  };
  const failing = (code: string) => `event: failed\ndata: {"code":"${code}","detail":"so it is"}\n\n`;

  it.each([
    ["cuts it, with a greeting each time", ": hello\n\n", "text/event-stream", "server_unreachable", 3],
    ["is no Rookery", "<p>Please log in", "text/html", "server_unreachable", 3],
    ["fails, and says so each time", failing("store_locked"), "text/event-stream", "store_locked", 3],
    ["cannot read the log, and never will", failing("log_corrupt"), "text/event-stream", "log_corrupt", 1],
  ])("gives up what %s", async (_, text, type, code, tries) => {
    const { client: other, calls } = answered(text, type);
    await expect(take(other.follow({ everything: true, tries: 3 }), 1)).rejects.toMatchObject({ code });
    expect(calls()).toBe(tries);
  });

  it("fails when what is followed is deleted", async () => {
    const session = await scene.written(1);
    const events = client.follow({ session, after: 2 })[Symbol.asyncIterator]();
    const next = events.next();
    await vi.waitFor(async () => expect((await client.GET("/v1/health")).data?.streams).toBe(1));
    const [outcome] = await Promise.allSettled([next, scene.rookery.deleteSession(session)]);
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "session_not_found" } });
  });

  it("ends quietly when it is told to, also while it waits", async () => {
    const events = client.follow({ everything: true })[Symbol.asyncIterator]();
    const next = events.next();
    await vi.waitFor(async () => expect((await client.GET("/v1/health")).data?.streams).toBe(1));
    await events.return?.();
    expect(await next).toMatchObject({ done: true });
  });
});

describe("tasks of a server", () => {
  it("are given, listed, shown and followed as one's own", async () => {
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
    ["a task that is not there", (tasks) => tasks.show("none"), "task_not_found"],
    ["an id that is a path", (tasks) => tasks.show("../x"), "input_invalid"],
    ["a folder that is no repository", (tasks) => tasks.start({ prompt: "x", cwd: scene.cwd }), "repository_missing"],
    ["a diff of nothing", (tasks) => tasks.diff("none"), "task_not_found"],
    ["a merge of nothing", (tasks) => tasks.merge("none", { gate: false }), "task_not_found"],
  ])("fail with the code that they have there: %s", async (_, ask, code) => {
    await expect(ask(remoteTasks(client))).rejects.toMatchObject({ name: "RookeryError", code });
  });

  it("are waited for however long they take, and done once", async () => {
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
    const merging = remoteTasks(createClient({ url: scene.door.url, token: scene.door.token, fetch })).merge("a");
    await vi.waitFor(() => expect(asked).toBeGreaterThan(3));
    done();
    expect(await merging).toEqual(report);
    expect(merge).toHaveBeenCalledTimes(1);
  });

  it("say that there is no server where there is none", async () => {
    await scene.door.close();
    await expect(remoteTasks(client).list()).rejects.toMatchObject({ code: "server_unreachable" });
  });
});
