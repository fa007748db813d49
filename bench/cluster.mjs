// Measures the log in PostgreSQL beside SQLite, 10,000 sessions on three workers, and how long a task waits when its
// worker dies. Run it with `node bench/cluster.mjs [--quick]`. It starts a PostgreSQL server of its own, with fsync.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { startPostgresCluster } from "../scripts/postgres-cluster.mjs";
import { measureTakeOver } from "./cluster/take-over.mjs";
import { event, opened } from "./store/events.mjs";
import { withBenchStore } from "./store/open.mjs";
import { startChild } from "./store/start-child.mjs";
import { median, printAlone, quantile, row } from "./table.mjs";

const STORE_CHILD = fileURLToPath(new URL("./store/child.mjs", import.meta.url));
const HOLDER = fileURLToPath(new URL("./cluster/holder.mjs", import.meta.url));
const WORKERS = 3;
const PER_SECOND = 20;
const MAX_P99_MS = 50;
const DURABLE = { fsync: "on", synchronous_commit: "on", full_page_writes: "on" };
/** Seconds. Longer than the time between two renewals, so that each count contains one. */
const IDLE_SECONDS = 12;

/** PostgreSQL 18 publishes the statistics of a connection up to 10 s after it becomes idle. */
const COUNTING_DELAY_MS = 12_000;

export async function run({ quick = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "rookery-bench-"));
  const server = await startPostgresCluster({ settings: DURABLE });
  const bench = { folder, url: server.url, sqlite: join(folder, "log.db"), scale: quick ? 0.1 : 1 };
  try {
    return [
      ...(await manySessions(bench)),
      ...(await oneByOne(bench)),
      ...(await following(bench)),
      ...(await heldSessions(bench)),
      ...(await ceiling(bench)),
      ...(await manyLeases(bench)),
      ...(await takeOver(bench)),
    ];
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The floor is SQLite: one machine without a server. */
async function manySessions({ sqlite, url, scale }) {
  const measure = async (store) => {
    const ids = Array.from({ length: 100 }, (_, index) => `ses_bench_many_${index}`);
    await Promise.all(ids.map((id) => store.append(opened(id))));
    const count = 200 * scale;
    const started = performance.now();
    await Promise.all(ids.map((id) => appendOneByOne(store, id, count)));
    return (ids.length * count * 1_000) / (performance.now() - started);
  };
  const floor = await withBenchStore(sqlite, measure);
  const value = await withBenchStore(url, measure);
  return [
    row("floor: SQLite, 100 sessions, each append awaited", floor, "appends/s"),
    { ...row("PostgreSQL, the same", value, "appends/s", { floor }), target: "≥ 1.0× floor", ok: value >= floor },
  ];
}

async function oneByOne({ sqlite, url, scale }) {
  const measure = async (store) => {
    await store.append(opened("ses_bench_one"));
    return median(await appendOneByOne(store, "ses_bench_one", 2_000 * scale));
  };
  const floor = await withBenchStore(sqlite, measure);
  const value = await withBenchStore(url, measure);
  return [
    row("floor: SQLite, one session, an awaited append, p50", floor, "ms"),
    { ...row("PostgreSQL, the same", value, "ms", { floor }), target: "≤ 2.5× floor", ok: value <= 2.5 * floor },
  ];
}

/** Resolves with the time of each append, in milliseconds. */
async function appendOneByOne(store, sessionId, count) {
  const times = [];
  for (let head = 1; head <= count; head += 1) {
    const started = performance.now();
    await store.append({ sessionId, id: `o${head}`, expectedHead: head, events: [event(head + 1)] });
    times.push(performance.now() - started);
  }
  return times;
}

async function following({ url, scale }) {
  const options = { sessionId: "ses_bench_followed", count: 2_000 * scale };
  await withBenchStore(url, (store) => store.append(opened(options.sessionId)));
  const [follower, ticker] = ["follower", "ticker"].map((role) => startChild(STORE_CHILD, role, url, options));
  for (const child of [follower, ticker]) await child.ready;
  follower.start();
  ticker.start();
  await ticker.result;
  const { delays } = await follower.result;
  const name = "PostgreSQL, append to a follower in another process";
  return [
    row(`${name}, p50`, median(delays), "ms", { target: 6, less: true }),
    row(`${name}, p99`, quantile(delays, 0.99), "ms", { target: 25, less: true }),
  ];
}

async function heldSessions({ url, scale }) {
  const held = Math.round((10_000 * scale) / WORKERS);
  const streaming = Math.round((300 * scale) / WORKERS);
  const few = await runHolders(url, { label: "few", held: 1, streaming: 0, seconds: 1 });
  const all = await runHolders(url, { label: "held", held, streaming, seconds: 15 });
  const name = `${(held * WORKERS).toLocaleString("en")} sessions on ${WORKERS} workers`;
  const perSession = (all.idleQueries - few.idleQueries) / ((held - 1) * WORKERS);
  const streams = `${name}, ${streaming * WORKERS} stream ${PER_SECOND} events a second`;
  return [
    row(`floor: ${WORKERS} workers with one idle session each`, few.idleQueries, "transactions/s"),
    row(`${name}, all idle`, all.idleQueries, "transactions/s"),
    row("an idle session, beyond that floor", perSession * 60, "transactions/min", { target: 0.01, less: true }),
    row(`${streams}, append p50`, median(all.delays), "ms"),
    row(`${streams}, append p99`, quantile(all.delays, 0.99), "ms", { target: MAX_P99_MS, less: true }),
  ];
}

/** Adds 50 % more streams in each step, until an append takes too long. */
async function ceiling({ url, scale }) {
  let best = 0;
  let p99 = 0;
  for (let streams = 300 * scale; streams <= 9_600 * scale; streams = Math.round(streams * 1.5)) {
    const perWorker = Math.round(streams / WORKERS);
    const options = { label: `c${streams}`, held: perWorker, streaming: perWorker, seconds: 8, countsIdle: false };
    const { delays } = await runHolders(url, options);
    p99 = quantile(delays, 0.99);
    if (p99 > MAX_P99_MS) break;
    best = perWorker * WORKERS;
  }
  const rate = best * PER_SECOND;
  return [
    row(`most streams with p99 ≤ ${MAX_P99_MS} ms, 50 % more in each step`, best, "streams"),
    row("appends of those streams", rate, "appends/s"),
    row("p99 of the next step", p99, "ms"),
    row("what 100,000 sessions need if 3 of 100 stream", 100_000 * 0.03 * PER_SECOND, "appends/s"),
  ];
}

/** All leases of 100,000 sessions in one renewal. */
function manyLeases({ url, scale }) {
  return withBenchStore(url, (store) => renewLeases(store, 100_000 * scale));
}

async function renewLeases(store, count) {
  const now = Date.now();
  const leases = [];
  for (let first = 0; first < count; first += 500) {
    const ids = Array.from({ length: 500 }, (_, index) => `ses_bench_lease_${first + index}`);
    await Promise.all(ids.map((id) => store.append(opened(id))));
    const requests = ids.map((sessionId) => ({ sessionId, owner: "bench", now, until: now + 600_000 }));
    leases.push(...(await Promise.all(requests.map((request) => store.acquireLease(request)))));
  }
  const started = performance.now();
  const renewed = await store.renewLeases(leases, now + 700_000);
  const tookMs = performance.now() - started;
  if (renewed.some((lease) => lease === undefined)) throw new Error("a lease was lost");
  return [row(`renewal of ${count.toLocaleString("en")} leases`, tookMs, "ms")];
}

async function takeOver({ folder, url, scale }) {
  const ttl = scale < 1 ? 6 : 30;
  const measure = (name, sameHost) =>
    measureTakeOver({ folder: join(folder, name), url, schema: name, ttl, sameHost }).then((ms) => ms / 1_000);
  const same = await measure("same", true);
  const other = await measure("other", false);
  return [
    row("a killed worker's task runs again on its host", same, "s", { target: 2, less: true }),
    row(`the same on another host, with a lease of ${ttl} s`, other, "s", { target: ttl + 3, less: true }),
  ];
}

/** Starts the workers, counts the transactions while they are idle, and lets them stream. */
async function runHolders(url, { label, held, streaming, seconds, countsIdle = true }) {
  const holders = Array.from({ length: WORKERS }, (_, index) =>
    startChild(HOLDER, "holder", url, { name: `${label}_${index}`, held, streaming, perSecond: PER_SECOND, seconds }),
  );
  for (const holder of holders) await holder.ready;
  const idleQueries = countsIdle ? await countTransactions(url) : undefined;
  for (const holder of holders) holder.start();
  const results = await Promise.all(holders.map((holder) => holder.result));
  return { idleQueries, delays: results.flatMap(({ delays }) => delays) };
}

/** Transactions per second of the whole server. */
async function countTransactions(url) {
  await sleep(COUNTING_DELAY_MS);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const read = async () => {
    const { rows } = await client.query("select sum(xact_commit + xact_rollback) as count from pg_stat_database");
    return Number(rows[0].count);
  };
  const before = await read();
  const started = performance.now();
  await sleep(IDLE_SECONDS * 1_000);
  const count = (await read()) - before;
  await client.end();
  return (count * 1_000) / (performance.now() - started);
}

await printAlone(import.meta.url, "Several hosts", run);
