// A session of 100,000 events whose last message has 1.6 million characters: opening it, its memory, scrolling.
import { median } from "../table.mjs";
import { scrollFrames, watchText } from "./in-page.mjs";
import { END, LONG_SESSION } from "./logs.mjs";
import { traceLongestTask } from "./main-thread.mjs";
import { atMost, frameRows } from "./rows.mjs";
import { measureHeap, signIn, startServer } from "./scene.mjs";

const SCROLLER = ".transcript-scroll";
/** Pixels per frame: a wheel that turns fast, and a screen in each frame. */
const STEPS = [-120, -800];
/** Until what starts after the first frame has ended. */
const SETTLE_MS = 1_000;

export async function measureLongSession({ browser, folder, rounds, frames }) {
  const [firsts, seconds, heaps, scrolled, stuck] = [[], [], [], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const server = await startServer(folder); // a new one, which has read nothing
    const { context, page } = await signIn(browser, server);
    await context.addInitScript(watchText, { selector: `${SCROLLER} p`, text: END });
    firsts.push(await open(page, `${server.base}/session/${LONG_SESSION}`));
    seconds.push(await open(page, `${server.base}/session/${LONG_SESSION}`));
    await page.waitForTimeout(SETTLE_MS);
    heaps.push(await measureHeap(page));
    const { result, longestCpuMs } = await traceLongestTask(browser, () => scrollBoth(page, frames));
    scrolled.push({ times: result.times, longestCpuMs });
    stuck.push(result.stuck);
    heaps.push(await measureHeap(page));
    await context.close();
    await server[Symbol.asyncDispose]();
  }
  return [
    atMost(
      "session of 100,000 events, 1.6 million characters at its end: first open, until the end is painted",
      median(firsts),
      1_000,
      "ms",
    ),
    atMost("the same, second open", median(seconds), 1_000, "ms"),
    atMost("the same, JavaScript heap after a collection, also after scrolling", Math.max(...heaps), 150, "MB"),
    ...frameRows("scrolling through it, 120 and 800 pixels per frame", scrolled),
    {
      name: "the same, frames that wait for older events at the start of what is loaded",
      value: median(stuck),
      unit: "",
    },
  ];
}

/** Scrolls up through the long message, then through the turns before it, which are read on the way. */
async function scrollBoth(page, count) {
  const scroll = () => page.evaluate(scrollFrames, { selector: SCROLLER, steps: STEPS, count });
  const long = await scroll();
  await page.evaluate((selector) => void (document.querySelector(selector).scrollTop = 4_000), SCROLLER);
  const older = await scroll();
  return { times: [...long.times, ...older.times], stuck: older.stuck };
}

async function open(page, url) {
  await page.goto(url);
  await page.waitForFunction(() => globalThis.benchShown !== undefined);
  return page.evaluate(() => globalThis.benchShown);
}
