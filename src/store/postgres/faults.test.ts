import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "../../domain/index.ts";
import { startPostgresCluster, type PostgresCluster } from "../../../scripts/postgres-cluster.mjs";
import { newAppend, numbers, outputText, SESSION, toTextOrType, writeTestSession } from "../contract/scene.ts";
import { openFaultyProxy } from "./fixtures/proxy.ts";
import { hasTestPostgres, testSchemas } from "./fixtures/schemas.ts";
import { connectPostgresClient, endPostgresClient } from "./client.ts";
import { parsePostgresUrl } from "./location.ts";
import { openPostgresStore } from "./open.ts";

const schemas = testSchemas();

async function readTexts(store: Store): Promise<string[]> {
  return (await store.read({ sessionId: SESSION })).events.slice(1).map(toTextOrType);
}

function texts(first: number, last: number): string[] {
  return numbers(first, last).map(String);
}

/** Appends the numbers from `first` to `last`, each when the one before is durable. */
async function appendNumbers(store: Store, first: number, last: number): Promise<void> {
  for (const number of numbers(first, last)) await store.append(newAppend(number - 1, [outputText(String(number))]));
}

describe.skipIf(!hasTestPostgres)("faults of PostgreSQL", () => {
  it("continues appends and followers when the server ends their connections", async () => {
    const options = await schemas.next();
    await using store = await openPostgresStore(options);
    await writeTestSession(store);
    const followed: string[] = [];
    const following = (async () => {
      for await (const event of store.follow({ sessionId: SESSION, after: 1 })) {
        if (followed.push(toTextOrType(event)) === 60) return;
      }
    })();
    const endConnections = () =>
      schemas.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'rookery %' and query like $1",
        [`%${options.schema}%`],
      );
    for (const first of [2, 22, 42]) {
      await Promise.all([appendNumbers(store, first, first + 19), endConnections()]);
    }
    await following;
    expect(followed).toEqual(texts(2, 61));
    expect(await readTexts(store)).toEqual(texts(2, 61));
  });

  it("treats a retried append as repeated if the connection was cut after the commit", async () => {
    const options = await schemas.next();
    await using proxy = await openFaultyProxy(options.url);
    await using store = await openPostgresStore({ ...options, url: proxy.url });
    await writeTestSession(store);
    proxy.cutAfterAnswer();
    expect(await store.append(newAppend(1, [outputText("2")]))).toEqual({ head: 2, repeated: true });
    expect(proxy.cuts()).toBe(1);
    expect(await store.append(newAppend(2, [outputText("3")]))).toEqual({ head: 3, repeated: false });
    expect(await readTexts(store)).toEqual(texts(2, 3));
  });

  it("continues after the server has ended a client that holds a lock and does nothing", async () => {
    const options = await schemas.next();
    await using store = await openPostgresStore(options);
    await writeTestSession(store);
    const location = parsePostgresUrl(options.url);
    const [server] = location.servers;
    const frozen = await connectPostgresClient(
      { location, server: server!, name: "frozen", connectTimeout: 10_000, lockTimeout: 10_000, idleTimeout: 300 },
      { useTls: false, isPooled: false },
    );
    const gone = new Promise((resolve) => frozen.once("end", resolve));
    await frozen.query("begin");
    await frozen.query(`select 1 from "${options.schema}".session for update`);
    expect(await store.append(newAppend(1, [outputText("2")]))).toEqual({ head: 2, repeated: false });
    await gone;
    await endPostgresClient(frozen);
  });

  it("rejects with store_locked if a lock is held for longer than the timeout", async () => {
    const options = await schemas.next();
    await using store = await openPostgresStore({ ...options, timeout: 300 });
    await writeTestSession(store);
    const location = parsePostgresUrl(options.url);
    const [server] = location.servers;
    const holder = await connectPostgresClient(
      { location, server: server!, name: "frozen", connectTimeout: 10_000, lockTimeout: 10_000, idleTimeout: 60_000 },
      { useTls: false, isPooled: false },
    );
    await holder.query("begin");
    await holder.query(`select 1 from "${options.schema}".session for update`);
    await expect(store.append(newAppend(1, [outputText("2")]))).rejects.toMatchObject({ code: "store_locked" });
    await holder.query("rollback");
    await endPostgresClient(holder);
    expect((await store.append(newAppend(1, [outputText("2")]))).head).toBe(2);
  });
});

describe.skipIf(!hasTestPostgres)("a restarted server", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgresCluster();
  });
  afterAll(() => cluster.stop());

  const endings = process.platform === "linux" ? (["crash", "kill"] as const) : (["crash"] as const);
  it.each(endings)(
    "leaves no gap and no duplicate in the log, the feed and their followers after a %s",
    async (end) => {
      const options = { url: cluster.url, schema: `restarted_${end}`, timeout: 30_000 };
      await using writer = await openPostgresStore(options);
      await using reader = await openPostgresStore(options);
      await writeTestSession(writer);
      const events: string[] = [];
      const positions: number[] = [];
      const following = Promise.all([
        (async () => {
          for await (const event of reader.follow({ sessionId: SESSION, after: 1 })) {
            if (events.push(toTextOrType(event)) === 40) return;
          }
        })(),
        (async () => {
          for await (const page of reader.followFeed({ after: 1 })) {
            positions.push(...page.map(({ position }) => position));
            if (positions.length === 40) return;
          }
        })(),
      ]);
      await appendNumbers(writer, 2, 21);
      await cluster[end]();
      const appending = appendNumbers(writer, 22, 41);
      await cluster.start();
      await appending;
      await following;
      expect(events).toEqual(texts(2, 41));
      expect(positions).toEqual(numbers(2, 41));
      expect(await readTexts(reader)).toEqual(texts(2, 41));
    },
  );

  it("rejects with store_unavailable while the server is down, and works again afterwards", async () => {
    await using store = await openPostgresStore({ url: cluster.url, schema: "down", timeout: 200 });
    await writeTestSession(store);
    await cluster.crash();
    const append = newAppend(1, [outputText("2")]);
    await expect(store.append(append)).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(store.summary(SESSION)).rejects.toMatchObject({ code: "store_unavailable" });
    await cluster.start();
    expect(await store.append(append)).toEqual({ head: 2, repeated: false });
  });
});
