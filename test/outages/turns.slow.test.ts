import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SessionEvent, Store } from "../../src/domain/index.ts";
import { Rookery } from "../../src/rookery.ts";
import { serveHttp } from "../../src/server/http/index.ts";
import { DisposeStack, processesMarked } from "../../src/stdx/index.ts";
import { openFaultyProxy, type FaultyProxy } from "../../src/store/postgres/fixtures/proxy.ts";
import { hasTestPostgres, testSchemas } from "../../src/store/postgres/fixtures/schemas.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import {
  builtEnvironment,
  call,
  say,
  startModelServer,
  temporaryFolder,
  temporaryRepository,
  type ModelRequest,
  type ModelServer,
} from "../../src/testing/index.ts";

const schemas = testSchemas();
/** Without a renewal, a holder stops its agent after 5/6 of the first, and programs have 2 s to obey. */
const LEASE = { ttlMs: 24_000, renewMs: 3_000 };
const STORE_TIMEOUT_MS = 2_000;

/** Writes its process id, waits for the file `go`, and then continues. */
const WAIT = "echo $$ > pid; until [ -e go ]; do sleep 0.05; done";

/** Chooses the reply from the conversation only, so that a repeated request gets the same reply. */
function model(request: ModelRequest) {
  switch (request.messages.filter(({ role }) => role === "assistant").length) {
    case 0:
      return call("bash", { command: "echo one >> ran" }, { text: "first" });
    case 1:
      return call("bash", { command: `${WAIT}; echo two >> ran` }, { text: "second" });
    default:
      return say("third");
  }
}

let owned: DisposeStack;
let proxy: FaultyProxy;
/** Reaches the server without the proxy. */
let direct: Store;
/** Reaches it through the proxy, like the sessions. */
let proxied: Store;
let rookery: Rookery;
let server: ModelServer;
let cwd: string;
let env: Record<string, string>;

describe.skipIf(!hasTestPostgres)("an outage of PostgreSQL during a turn", () => {
  beforeEach(async () => {
    owned = new DisposeStack();
    const options = await schemas.next();
    proxy = owned.use(await openFaultyProxy(options.url));
    direct = owned.use(await openPostgresStore(options));
    const store = owned.use(await openPostgresStore({ ...options, url: proxy.url, timeout: STORE_TIMEOUT_MS }));
    proxied = store;
    const home = owned.use(await temporaryFolder()).path;
    cwd = owned.use(await temporaryFolder()).path;
    server = owned.use(await startModelServer(model));
    env = { ...builtEnvironment({ home }), ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "fake" };
    const program = join(home, "agent.sh");
    await writeFile(program, `#!/bin/sh\necho one >> ran; echo first\n${WAIT}\necho two >> ran; echo second\n`, {
      mode: 0o755,
    });
    await mkdir(join(home, ".config", "rookery"), { recursive: true });
    const agent = `[agents.plain]\nbackend = "command"\ncommand = ["${program}"]\n`;
    await writeFile(join(home, ".config", "rookery", "rookery.toml"), agent);
    rookery = owned.use(await Rookery.open({ env, cwd, store, leaseTiming: LEASE }));
  });
  afterEach(async () => {
    if (existsSync(cwd)) writeFileSync(join(cwd, "go"), ""); // the worktree of a task is removed
    proxy.heal();
    await owned[Symbol.asyncDispose]();
  });

  it.each([
    ["refuses connections", "anthropic", () => proxy.refuse()],
    ["refuses connections", "plain", () => proxy.refuse()],
    ["loses packets", "anthropic", () => proxy.drop()],
    ["loses packets", "plain", () => proxy.drop()],
  ])("that %s and is shorter than the lease does not affect a turn of the agent %s", async (_, agent, fail) => {
    const session = await rookery.openSession({ agent, permissions: "all" });
    const { outcome } = session.prompt("go");
    await untilFile("pid");
    fail();
    writeFileSync(join(cwd, "go"), "");
    await vi.waitFor(() => expect(read("ran")).toBe("one\ntwo\n"), 20_000);
    await expect(proxied.summary(session.id)).rejects.toMatchObject({ code: "store_unavailable" }); // the store gives up
    proxy.heal();
    expect(await outcome).toMatchObject({ status: "done" });
    const events = await readEvents(session.id);
    expectOneEndPerTurn(events);
    expect(typesOf(events)).not.toContain("notice");
    expect(read("ran")).toBe("one\ntwo\n");
    if (agent === "anthropic") expect(server.requests).toHaveLength(3);
  });

  it.each(["anthropic", "plain"])("that is longer than the lease stops the agent %s in time", async (agent) => {
    const session = await rookery.openSession({ agent, permissions: "all" });
    const { outcome } = session.prompt("go");
    await untilFile("pid");
    proxy.drop();
    outcome.catch(() => undefined); // awaited below
    await untilProcessEnded();
    const endedAt = Date.now();
    const lease = await direct.currentLease(session.id);
    expect(endedAt).toBeLessThan(lease?.until ?? 0); // nobody could take the session yet
    await expect(outcome).rejects.toMatchObject({ code: "lease_lost" });
    expect(processesMarked(lease?.owner.split("/")[0] ?? "")).toEqual([]);
    await session[Symbol.asyncDispose]().catch(() => undefined); // the lease cannot be released during the outage
    proxy.heal();
    writeFileSync(join(cwd, "go"), "");
    const again = await rookery.openSession({ id: session.id });
    if (agent === "anthropic") expect(await again.resumed?.outcome).toMatchObject({ status: "done" });
    else expect(again.state.lastOutcome).toMatchObject({ status: "failed", code: "interrupted" });
    expect(await again.prompt("and now").outcome).toMatchObject({ status: "done" });
    expectOneEndPerTurn(await readEvents(session.id));
  });

  it.each(["anthropic", "plain"])("ends the turn of the agent %s in a server exactly once", async (agent) => {
    await using service = await serveHttp(rookery, { port: 0, version: "1.0.0", env, cwd });
    const post = async (path: string, body: unknown) => {
      const headers = { authorization: `Bearer ${service.token}`, "content-type": "application/json" };
      const response = await fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, json: (await response.json()) as { id: string; turnId: string } };
    };
    const { json: opened } = await post("/v1/sessions", { agent, cwd, permissions: "all" });
    const { json: turn } = await post(`/v1/sessions/${opened.id}/turns`, { input: "go" });
    await untilFile("pid");
    proxy.refuse();
    await untilProcessEnded();
    writeFileSync(join(cwd, "go"), "");
    proxy.heal();
    for await (const event of direct.follow({ sessionId: opened.id, after: 0 })) {
      if (event.type !== "turn.ended") continue;
      expect(event.turnId).toBe(turn.turnId);
      const status = agent === "anthropic" ? "done" : "failed";
      expect(event.outcome).toMatchObject({ status });
      break;
    }
    expect((await post(`/v1/sessions/${opened.id}/turns`, { input: "and now" })).status).toBe(202);
    await vi.waitFor(async () => {
      const ends = (await readEvents(opened.id)).filter(({ type }) => type === "turn.ended");
      expect(ends.at(-1)).toMatchObject({ outcome: { status: "done" } });
      expect(ends).toHaveLength(2);
    }, 20_000);
    expectOneEndPerTurn(await readEvents(opened.id));
  });

  it.each(["anthropic", "plain"])(
    "that is longer than the lease does not end a task of the agent %s",
    async (agent) => {
      await using repository = await temporaryRepository({ "a.txt": "a" });
      const { id } = await rookery.startTask({ prompt: "go", agent, permissions: "all", cwd: repository.path });
      const stop = new AbortController();
      const running = rookery.runTasks({ signal: stop.signal });
      await vi.waitFor(async () => {
        const { worktree } = await rookery.tasks.show(id);
        cwd = worktree?.path ?? cwd;
        expect(read("pid")).toMatch(/\n$/);
      }, 40_000);
      proxy.refuse();
      await untilProcessEnded();
      writeFileSync(join(cwd, "go"), "");
      proxy.heal();
      for await (const page of direct.followFeed({ after: 0, task: id })) {
        if (JSON.stringify(page).includes("task.ended")) break;
      }
      stop.abort();
      await running;
      expect(await direct.task(id)).toMatchObject({ phase: "done" });
      for (const { id: sessionId } of await direct.list({ task: id })) {
        expectOneEndPerTurn(await readEvents(sessionId));
      }
    },
  );
});

async function readEvents(sessionId: string): Promise<readonly SessionEvent[]> {
  return (await direct.read({ sessionId, limit: 1_000 })).events;
}

function typesOf(events: readonly SessionEvent[]): string[] {
  return events.map(({ type }) => type);
}

/** Also checks that the log has no gap. */
function expectOneEndPerTurn(events: readonly SessionEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const started = events.filter(({ type }) => type === "turn.started").map(({ turnId }) => turnId);
  const ended = events.filter(({ type }) => type === "turn.ended").map(({ turnId }) => turnId);
  expect(ended).toEqual(started);
}

/** Empty if the file does not exist. */
function read(name: string): string {
  return existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : "";
}

async function untilFile(name: string): Promise<void> {
  await vi.waitFor(() => expect(read(name)).toMatch(/\n$/), 30_000);
}

async function untilProcessEnded(): Promise<void> {
  await vi.waitFor(() => expect(existsSync(`/proc/${read("pid").trim()}`)).toBe(false), {
    timeout: 40_000,
    interval: 20,
  });
}
