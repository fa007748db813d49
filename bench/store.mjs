// Measures how fast the SQLite store writes, follows and replays, compared with the limits of the machine.
// Run it with `node bench/store.mjs [--quick]`. Results and baselines are measured in the same run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSqliteStore } from "../dist/index.js";
import { opened, write } from "./store/events.mjs";
import { startChild } from "./store/start-child.mjs";
import { printAlone, row } from "./table.mjs";
import { floorOfReading, floorOfWriting, perSecond } from "./store/floor.mjs";

const CHILD = fileURLToPath(new URL("./store/child.mjs", import.meta.url));
const PAGE = 10_000;

export async function run({ quick = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "rookery-bench-"));
  const bench = { folder, scale: quick ? 0.1 : 1 };
  try {
    return [
      ...(await writing(bench, {
        name: "100 events to an append, 16 in flight",
        batch: 100,
        inFlight: 16,
        target: 100_000,
      })),
      ...(await writing(bench, { name: "1 event to an append, 1,000 in flight", batch: 1, inFlight: 1_000 })),
      await oneByOne(bench),
      await manyWriters(bench),
      ...(await following(bench)),
      ...(await replaying(bench)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writing({ folder, scale }, { name, batch, inFlight, target }) {
  const count = 400_000 * scale;
  const floor = floorOfWriting(folder, { count, perTransaction: batch * inFlight });
  const store = await openSqliteStore({ path: join(folder, `writing-${batch}.db`) });
  await store.append(opened("ses_bench"));
  await write(store, { sessionId: "ses_bench", count: count / 10, batch, inFlight }); // warm up
  const started = performance.now();
  await write(store, { sessionId: "ses_bench", count, batch, inFlight, after: 1 + count / 10 });
  const rate = perSecond(count, started);
  await store[Symbol.asyncDispose]();
  return [
    row(`floor: plain libsql, ${batch * inFlight} events to a transaction`, floor, "events/s"),
    row(`durable append, one writer, ${name}`, rate, "events/s", { target, floor }),
  ];
}

async function oneByOne({ folder, scale }) {
  const count = 5_000 * scale;
  const store = await openSqliteStore({ path: join(folder, "single.db") });
  await store.append(opened("ses_bench"));
  const floor = floorOfWriting(folder, { count, perTransaction: 1 });
  const started = performance.now();
  await write(store, { sessionId: "ses_bench", count, batch: 1, inFlight: 1 });
  const rate = perSecond(count, started);
  await store[Symbol.asyncDispose]();
  return row("durable append, one event, each awaited", rate, "events/s", { floor });
}

async function manyWriters({ folder, scale }) {
  const count = 60_000 * scale;
  const floor = floorOfWriting(folder, { count: count * 2, perTransaction: 400 });
  const path = join(folder, "many.db");
  const options = (index) => ({ sessionId: `ses_bench_${index}`, count, batch: 100, inFlight: 4 });
  const children = Array.from({ length: 8 }, (_, index) => startChild(CHILD, "writer", path, options(index)));
  for (const writer of children) await writer.ready;
  const started = performance.now();
  for (const writer of children) writer.start();
  await Promise.all(children.map((writer) => writer.result));
  const rate = perSecond(count * children.length, started);
  return row("durable append, 8 processes in total, 100 to an append", rate, "events/s", { target: 50_000, floor });
}

async function following({ folder, scale }) {
  const count = 2_000 * scale;
  const path = join(folder, "following.db");
  const store = await openSqliteStore({ path });
  await store.append(opened("ses_bench"));
  const follower = startChild(CHILD, "follower", path, { sessionId: "ses_bench", count });
  const ticker = startChild(CHILD, "ticker", path, { sessionId: "ses_bench", count });
  for (const process of [follower, ticker]) await process.ready;
  follower.start();
  ticker.start();
  await ticker.result;
  const { delays } = await follower.result;
  await store[Symbol.asyncDispose]();
  delays.sort((a, b) => a - b);
  const at = (share) => delays[Math.floor(delays.length * share)];
  return [
    row("append to a follower in another process, p50", at(0.5), "ms", { target: 5, less: true }),
    row("append to a follower in another process, p99", at(0.99), "ms", { target: 25, less: true }),
  ];
}

async function replaying({ folder, scale }) {
  const count = 1_000_000 * scale;
  const path = join(folder, "replay.db");
  const sessionId = "ses_bench";
  const store = await openSqliteStore({ path });
  await store.append(opened(sessionId));
  await write(store, { sessionId, count: count - 1_000, batch: 1_000, inFlight: 4 });
  await write(store, { sessionId, count: 999, batch: 999, inFlight: 1, after: count - 999 });
  await store[Symbol.asyncDispose]();

  const fresh = await openSqliteStore({ path });
  let started = performance.now();
  const tail = await fresh.read({ sessionId, order: "newest_first", limit: 1_000 });
  const tailTook = performance.now() - started;
  if (tail.events[0].seq !== count || tail.events.length !== 1_000)
    throw new Error("the last page does not contain the last events");

  const floor = floorOfReading({ count, page: PAGE });
  started = performance.now();
  let seq = 0;
  while (seq < count) seq = (await fresh.read({ sessionId, after: seq, limit: PAGE })).events.at(-1).seq;
  const rate = perSecond(count, started);
  await fresh[Symbol.asyncDispose]();
  return [
    row("floor: JSON.parse of the same pages", floor, "events/s"),
    row(`replay of ${count.toLocaleString("en")} events`, rate, "events/s", { target: 300_000, floor }),
    row("the last 1,000 of them, first read of a store", tailTook, "ms", { target: 20, less: true }),
  ];
}

await printAlone(import.meta.url, "The log", run);
