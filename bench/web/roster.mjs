// The roster of 200 sessions and 50 tasks: what it loads, and how fast it can be used.
import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { median } from "../table.mjs";
import { watchLongTasks, watchText } from "./in-page.mjs";
import { atMost } from "./rows.mjs";
import { signIn, startServer } from "./scene.mjs";

/** Until what starts after the first frame has ended. */
const SETTLE_MS = 1_000;
const ASSETS = new URL("../../dist/web/assets/", import.meta.url);

export async function measureRoster({ browser, folder, rounds }) {
  const server = await startServer(folder);
  const [paints, uses] = [[], []];
  let bytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { context, page } = await signIn(browser, server);
    await context.addInitScript(watchLongTasks);
    await context.addInitScript(watchText, { selector: "a.row", text: "" });
    const scripts = new Map();
    page.on("response", (response) => {
      if (/\.js$/.test(response.url())) scripts.set(response.url(), response.body());
    });
    await (await context.newCDPSession(page)).send("Network.setCacheDisabled", { cacheDisabled: true });
    await page.goto(server.base);
    await page.waitForFunction(() => globalThis.benchShown !== undefined);
    await page.waitForTimeout(SETTLE_MS);
    bytes = await countCompressed(await Promise.all(scripts.values()));
    const [paint, shown, busy] = await page.evaluate(() => [
      performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
      globalThis.benchShown,
      globalThis.benchBusyUntil,
    ]);
    paints.push(paint);
    uses.push(Math.max(shown, busy));
    await context.close();
  }
  await server[Symbol.asyncDispose]();
  return [
    atMost("JavaScript that the roster loads, with its worker, gzipped", bytes / 1024, 100, "KB"),
    atMost("roster of 200 sessions and 50 tasks: first contentful paint", median(paints), 1_000, "ms"),
    atMost("the same, until its rows are painted and no task over 50 ms runs", median(uses), 1_500, "ms"),
  ];
}

/** The browser does not report the script of the shared worker. */
async function countCompressed(scripts) {
  const workers = (await readdir(ASSETS)).filter((name) => /^worker-.*\.js$/.test(name));
  const bodies = [...scripts, ...(await Promise.all(workers.map((name) => readFile(new URL(name, ASSETS)))))];
  return bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
}
