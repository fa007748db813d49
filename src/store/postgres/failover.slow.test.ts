import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { postgresBinaries, startPostgresPair, type PostgresCluster } from "../../../scripts/postgres-cluster.mjs";
import type { Store } from "../../domain/index.ts";
import { newAppend, numbers, outputText, SESSION, toTextOrType, writeTestSession } from "../contract/scene.ts";
import { openFaultyProxy } from "./fixtures/proxy.ts";
import { inspectPostgresStore, openPostgresStore } from "./open.ts";

let primary: PostgresCluster;
let standby: PostgresCluster;

describe.skipIf(postgresBinaries() === undefined)("a failover to a synchronous standby", () => {
  beforeEach(async () => {
    ({ primary, standby } = await startPostgresPair());
  });
  afterEach(async () => {
    await primary.stop();
    await standby.stop();
  });

  it("loses nothing that was acknowledged, and leaves no gap for followers, with a URL of both servers", async () => {
    const url = `postgres://postgres@localhost/postgres?host=${primary.folder},${standby.folder}`;
    await expectNothingLost(url, () => Promise.resolve());
  });

  it("loses nothing if an address moves to the new primary before it accepts writes", async () => {
    await using address = await openFaultyProxy(primary.url);
    await expectNothingLost(address.url, async () => {
      address.redirect(standby.url);
      await address.untilSent("append_group");
    });
  });

  it("reports a risk unless the standby is synchronous", async () => {
    const describeRisks = async () =>
      (await inspectPostgresStore({ url: primary.url })).risks.map(({ detail }) => detail);
    expect(await describeRisks()).not.toContainEqual(expect.stringContaining("asynchronously"));
    await runSql(primary, "alter system set synchronous_standby_names = ''");
    await runSql(primary, "select pg_reload_conf()");
    await vi.waitFor(async () =>
      expect(await describeRisks()).toContain(
        "1 standby follows asynchronously, so a failover can lose events that were shown",
      ),
    );
    await expect(openPostgresStore({ url: standby.url })).rejects.toMatchObject({
      code: "store_readonly",
      message: expect.stringContaining("is read-only: connect to the primary server") as string,
    });
  });

  it("rejects with store_unavailable while no server accepts writes", async () => {
    const url = `postgres://postgres@localhost/postgres?host=${primary.folder},${standby.folder}`;
    await using store = await openPostgresStore({ url, timeout: 1_000 });
    await writeTestSession(store);
    await primary.crash();
    await expect(store.append(newAppend(1, [outputText("2")]))).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("accepts writes: promote a standby") as string,
    });
  });
});

const COUNT = 400;

/** Ends the primary during appends, promotes the standby, and compares what is left with what was promised. */
async function expectNothingLost(url: string, move: () => Promise<void>): Promise<void> {
  const options = { url, timeout: 60_000 };
  await using writer = await openPostgresStore(options);
  await using reader = await openPostgresStore(options);
  await writeTestSession(writer);
  const followed = followTexts(reader);
  const positions = followPositions(reader);
  let failingOver: Promise<void> | undefined;
  for (const number of numbers(2, COUNT)) {
    await writer.append(newAppend(number - 1, [outputText(String(number))])); // conflicts if one before it is lost
    if (number === COUNT / 4) failingOver = failOver(move);
  }
  await failingOver;
  const { events } = await writer.read({ sessionId: SESSION, limit: 2 * COUNT });
  expect(events.slice(1).map(toTextOrType)).toEqual(numbers(2, COUNT).map(String));
  expect(await followed).toEqual(numbers(2, COUNT).map(String));
  expect(await positions).toEqual(numbers(2, COUNT));
}

/** The standby receives nothing before the end of the primary, which would lose events if it did not wait for it. */
async function failOver(move: () => Promise<void>): Promise<void> {
  const [receiver] = await runSql(standby, "select pid from pg_stat_wal_receiver");
  process.kill(Number(receiver?.["pid"]), "SIGSTOP");
  const isWaiting = "select 1 from pg_stat_activity where wait_event = 'SyncRep'";
  await vi.waitFor(async () => expect(await runSql(primary, isWaiting)).toHaveLength(1), 5_000).catch(() => undefined);
  await primary.crash();
  process.kill(Number(receiver?.["pid"]), "SIGCONT");
  await move();
  await runSql(standby, "select pg_promote()");
}

async function runSql(cluster: PostgresCluster, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(sql);
  await client.end();
  return rows;
}

async function followTexts(store: Store): Promise<string[]> {
  const texts: string[] = [];
  for await (const event of store.follow({ sessionId: SESSION, after: 1 })) {
    if (texts.push(toTextOrType(event)) === COUNT - 1) break;
  }
  return texts;
}

async function followPositions(store: Store): Promise<number[]> {
  const positions: number[] = [];
  for await (const page of store.followFeed({ after: 1 })) {
    positions.push(...page.map(({ position }) => position));
    if (positions.length >= COUNT - 1) break;
  }
  return positions;
}
