// Measures what open tabs cost the server: its memory, and its database reads while events arrive.
import { setTimeout as sleep } from "node:timers/promises";
import { LIVE_SESSION, startStream } from "./logs.mjs";
import { atMost } from "./rows.mjs";
import { openStore, signIn, startServer } from "./scene.mjs";

const TABS = 20;
/** Until what starts after the first frame has ended. */
const SETTLE_MS = 1_000;
const STREAM_MS = 4_000;
/** Twenty pages draw each event, so that more would measure the browser. */
const PER_SECOND = 100;

export async function measureTabs({ browser, folder, rounds }) {
  const [memory, reads] = [[], []];
  const store = await openStore(folder);
  for (let round = 0; round < Math.min(rounds, 3); round += 1) {
    const server = await startServer(folder);
    const { context, page } = await signIn(browser, server);
    await page.waitForTimeout(SETTLE_MS);
    await countReads(server, store); // warms up
    const one = await countReads(server, store);
    for (let tab = 1; tab < TABS; tab += 1) {
      const other = await context.newPage();
      await other.goto(server.base);
      await other.locator("a.row").first().waitFor();
    }
    const many = await countReads(server, store);
    memory.push((many.held - one.held) / 1024 ** 2);
    reads.push(many.reads / one.reads);
    await context.close();
    await server[Symbol.asyncDispose]();
  }
  await store[Symbol.asyncDispose]();
  const count = Math.min(...reads);
  return [
    atMost(
      "memory of the server for 20 open tabs instead of 1, heap and buffers after a collection",
      Math.min(...memory),
      5,
      "MB",
    ),
    {
      name: "database reads with 20 tabs, of those with 1, for 100 events a second",
      value: count,
      unit: "×",
      target: "≤ 1.1 ×",
      ok: count <= 1.1,
    },
  ];
}

/** Database reads of the server per event, while events arrive. */
async function countReads(server, store) {
  const { head } = await store.summary(LIVE_SESSION);
  const before = await server.memory();
  const stop = startStream(store, { head, perSecond: PER_SECOND });
  await sleep(STREAM_MS);
  const streamed = await stop();
  const after = await server.memory();
  return { held: after.held, reads: (after.reads - before.reads) / (streamed.head - head) };
}
