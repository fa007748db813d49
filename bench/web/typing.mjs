// Typing into the box of a session while events arrive in it.
import { median, quantile } from "../table.mjs";
import { watchKeys } from "./in-page.mjs";
import { LIVE_SESSION, startStream } from "./logs.mjs";
import { atMost } from "./rows.mjs";
import { openStore, signIn, startServer } from "./scene.mjs";

const BOX = "textarea[aria-label=Message]";
const KEYS = 120;
const PER_SECOND = 1_000;

export async function measureTyping({ browser, folder, rounds }) {
  const server = await startServer(folder);
  const store = await openStore(folder);
  const { context, page } = await signIn(browser, server);
  await page.goto(`${server.base}/session/${LIVE_SESSION}`);
  await page.locator(BOX).click();
  await page.evaluate(watchKeys, { selector: BOX });
  const [idle, busy, rates] = [[], [], []];
  let { head } = await store.summary(LIVE_SESSION);
  for (let round = 0; round < rounds; round += 1) {
    idle.push(await type(page));
    const stop = startStream(store, { head, perSecond: PER_SECOND });
    await page.waitForTimeout(500);
    busy.push(await type(page));
    const streamed = await stop();
    head = streamed.head;
    rates.push(streamed.perSecond);
  }
  await context.close();
  await store[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  const best = (all, share) => Math.min(...all.map((times) => quantile(times, share)));
  const floor = best(idle, 0.5);
  const row = (name, value) => ({ ...atMost(name, value, 16, "ms"), ratio: value / floor });
  return [
    {
      name: "floor: from a key press to the painted frame, without a stream, median of the best round",
      value: floor,
      unit: "ms",
    },
    row(
      `the same while ${Math.round(median(rates)).toLocaleString("en")} events a second arrive in the session`,
      best(busy, 0.5),
    ),
    { ...row("the same, 95 of 100", best(busy, 0.95)), ratio: best(busy, 0.95) / best(idle, 0.95) },
  ];
}

/** The keys have no rhythm in common with the frames. */
async function type(page) {
  await page.evaluate(() => void globalThis.benchKeys.splice(0));
  for (let index = 0; index < KEYS; index += 1) {
    await page.keyboard.press(String.fromCharCode(97 + (index % 26)));
    await page.waitForTimeout(30 + ((index * 7) % 17));
  }
  await page.waitForFunction((count) => globalThis.benchKeys.length >= count, KEYS);
  return page.evaluate(() => globalThis.benchKeys);
}
