import { describe, expect, it, vi } from "vitest";
import type { Store } from "../../domain/index.ts";
import { newAppend, numbers, outputText, SESSION, toTextOrType, writeTestSession } from "../contract/scene.ts";
import { openFaultyProxy } from "./fixtures/proxy.ts";
import { hasTestPostgres, testSchemas } from "./fixtures/schemas.ts";
import { openPostgresStore, type PostgresInternals } from "./open.ts";

const schemas = testSchemas();
/** Long enough for a slow machine to answer, short enough for a test. */
const TIMEOUT_MS = 3_000;

async function openThroughProxy(internals: PostgresInternals = {}) {
  const options = await schemas.next();
  const proxy = await openFaultyProxy(options.url);
  const store = await openPostgresStore({ ...options, url: proxy.url, timeout: TIMEOUT_MS }, internals);
  await writeTestSession(store);
  return {
    options,
    proxy,
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

/** Resolves with the first events after the session was opened. */
async function followTexts(store: Store, count: number): Promise<string[]> {
  const followed: string[] = [];
  for await (const event of store.follow({ sessionId: SESSION, after: 1 })) {
    if (followed.push(toTextOrType(event)) === count) break;
  }
  return followed;
}

describe.skipIf(!hasTestPostgres)("a network that loses packets", () => {
  it("does not fail calls on connections that it has forgotten meanwhile", async () => {
    await using scene = await openThroughProxy();
    const { store, proxy } = scene;
    await store.acquireLease({ sessionId: SESSION, owner: "holder", now: 0, until: 1 }); // opens the third connection
    proxy.drop();
    proxy.heal();
    const [appended, summary, lease] = await Promise.all([
      store.append(newAppend(1, [outputText("2")])),
      store.summary(SESSION),
      store.acquireLease({ sessionId: SESSION, owner: "next", now: 2, until: 3 }),
    ]);
    expect(appended).toEqual({ head: 2, repeated: false });
    expect(summary).toMatchObject({ id: SESSION });
    expect(lease).toMatchObject({ owner: "next", generation: 2 });
  });

  it("rejects with store_unavailable after the timeout, and writes nothing twice if the caller repeats the append", async () => {
    await using scene = await openThroughProxy();
    const { store, proxy } = scene;
    const append = newAppend(1, [outputText("2")]);
    proxy.drop();
    const started = performance.now();
    await expect(store.append(append)).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/^cannot reach the database postgres on 127\.0\.0\.1:\d+, schema \w+: /) as string,
    });
    expect(performance.now() - started).toBeLessThan(3 * TIMEOUT_MS);
    proxy.heal();
    expect((await store.append(append)).head).toBe(2);
    expect((await store.read({ sessionId: SESSION })).head).toBe(2);
  });

  it("does not keep the store from closing", async () => {
    await using scene = await openThroughProxy();
    const { store, proxy } = scene;
    const following = followTexts(store, 1);
    proxy.drop();
    const started = performance.now();
    await store[Symbol.asyncDispose]();
    expect(await following).toEqual([]);
    expect(performance.now() - started).toBeLessThan(3 * TIMEOUT_MS);
  });
});

describe.skipIf(!hasTestPostgres)("a lost connection for notifications", () => {
  it.each([
    ["is cut", "after"],
    ["loses all packets", "after"],
    ["loses all packets before it listens", "before"],
  ])("leaves no gap for followers if it %s", async (how, when) => {
    await using scene = await openThroughProxy();
    const { options, store, proxy } = scene;
    await using other = await openPostgresStore(options);
    const listen = `listen "rookery_${options.schema}"`;
    if (when === "before") proxy.dropIfSent(listen);
    const following = followTexts(store, 40);
    for (const number of numbers(2, 21)) await other.append(newAppend(number - 1, [outputText(String(number))]));
    if (when === "after") {
      await vi.waitFor(async () => expect(await listeners(listen)).not.toEqual([]), 20_000);
      const [listener] = await listeners(listen);
      if (how === "is cut") await schemas.query("select pg_terminate_backend($1)", [listener]);
      else proxy.dropIfSent(listen);
    }
    for (const number of numbers(22, 41)) await other.append(newAppend(number - 1, [outputText(String(number))]));
    expect(await following).toEqual(numbers(2, 41).map(String));
  });

  it("is replaced while a follower waits", async () => {
    await using scene = await openThroughProxy({ listenCheck: 100 });
    const { options, store, proxy } = scene;
    const listen = `listen "rookery_${options.schema}"`;
    const following = followTexts(store, 1);
    await vi.waitFor(async () => expect(await listeners(listen)).toHaveLength(1), 20_000);
    const [before] = await listeners(listen);
    proxy.dropIfSent(listen);
    proxy.heal();
    await vi.waitFor(async () => expect((await listeners(listen)).filter((pid) => pid !== before)).toHaveLength(1), {
      timeout: 30_000,
      interval: 200,
    });
    await store.append(newAppend(1, [outputText("2")]));
    expect(await following).toEqual(["2"]);
  });
});

/** The server processes whose last statement is this one. */
async function listeners(statement: string): Promise<number[]> {
  const rows = await schemas.query("select pid from pg_stat_activity where query = $1", [statement]);
  return rows.map((row) => (row as { pid: number }).pid);
}
