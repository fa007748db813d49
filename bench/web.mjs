// Measures the page in a real browser, against the built server: its start, long sessions, scrolling, typing, diffs and
// many tabs. Run it with `node bench/web.mjs [--quick]`; `ROOKERY_BENCH_ONLY=session,diff` measures only these parts.
// `ROOKERY_BENCH_OPENCODE`, the path of the program `opencode`, adds the same figures for its page; without it, the
// program that `bench/peers` installed is used, if it is there.
import { existsSync } from "node:fs";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../dist/testing/index.js";
import { printAlone } from "./table.mjs";
import { measureDiff } from "./web/diff.mjs";
import { measureLongSession } from "./web/long-session.mjs";
import { writeLiveSession, writeLongSession, writePeerSession, writeRoster } from "./web/logs.mjs";
import { measureOpencode } from "./web/opencode.mjs";
import { measureRoster } from "./web/roster.mjs";
import { loadBrowser, prepareStore } from "./web/scene.mjs";
import { measureTabs } from "./web/tabs.mjs";
import { measureTyping } from "./web/typing.mjs";

const INSTALLED = fileURLToPath(
  new URL("peers/node_modules/opencode-linux-x64-baseline/bin/opencode", import.meta.url),
);

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
      await writePeerSession(store);
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
  opencode: async (scene) => {
    const program = process.env.ROOKERY_BENCH_OPENCODE ?? INSTALLED;
    if (existsSync(program)) return measureOpencode(scene, program);
    return [toNote("opencode: left out, not installed (`node bench/peers/run.mjs` installs it)")];
  },
};

function toNote(name) {
  return { name };
}

await printAlone(import.meta.url, "Page", run);
