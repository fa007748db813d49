// Measures the page in a real browser, against the built server: its start, long sessions, scrolling, typing, diffs and
// many tabs. Run it with `node bench/web.mjs [--quick]`. `ROOKERY_BENCH_ONLY=session,diff`
// measures only these parts.
import { loadavg } from "node:os";
import { temporaryFolder } from "../dist/testing/index.js";
import { printAlone } from "./table.mjs";
import { measureDiff } from "./web/diff.mjs";
import { measureLongSession } from "./web/long-session.mjs";
import { writeLiveSession, writeLongSession, writeRoster } from "./web/logs.mjs";
import { measureRoster } from "./web/roster.mjs";
import { loadBrowser, prepareStore } from "./web/scene.mjs";
import { measureTabs } from "./web/tabs.mjs";
import { measureTyping } from "./web/typing.mjs";

export async function run({ quick = false } = {}) {
  const found = await loadBrowser();
  if (found.missing !== undefined) return [toNote(`left out: ${found.missing}`)];
  const folder = await temporaryFolder();
  const browser = await found.start(folder.path);
  const scene = { browser, folder: folder.path, rounds: quick ? 1 : 5, frames: quick ? 100 : 200 };
  const only = process.env.ROOKERY_BENCH_ONLY?.split(",");
  const rows = [];
  try {
    await prepareStore(folder.path, async (store) => {
      await writeRoster(store);
      await writeLongSession(store);
      await writeLiveSession(store);
    });
    for (const [name, measure] of Object.entries(PARTS)) {
      if (only === undefined || only.includes(name)) rows.push(...(await measure(scene)));
    }
  } finally {
    await browser.close();
    await folder[Symbol.asyncDispose]();
  }
  return [
    ...rows,
    { name: "load average of the last minute at the end of this section", value: loadavg()[0], unit: "" },
  ];
}

const PARTS = {
  roster: measureRoster,
  session: measureLongSession,
  typing: measureTyping,
  diff: measureDiff,
  tabs: measureTabs,
};

function toNote(name) {
  return { name, value: 0, unit: "" };
}

await printAlone(import.meta.url, "Page", run);
