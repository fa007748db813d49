// Starts the built server over prepared logs, and a real browser that is signed in to it.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { openSqliteStore } from "../../dist/index.js";
import { startRookery, WATCHED } from "../server/servers.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const VIEWPORT = { width: 1280, height: 800 };
const IDENTITY = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "Bench"],
    [`GIT_${who}_EMAIL`, "bench@example.org"],
  ]),
);
/** Runs the prompt as a shell command. */
const SHELL_AGENT = '[agents.it]\nbackend = "command"\ncommand = ["sh", "-c", "{prompt}"]';

/** The browser of the tests. `missing` is the reason why none can run here. */
export async function loadBrowser() {
  const options = { root, configFile: false, logLevel: "error", esbuild: { target: "node20" } };
  const { module } = await runnerImport(join(root, "test/page/browser.ts"), options);
  return { ...(await module.findBrowser()), start: module.startBrowser };
}

/** Runs `write` on the store of a new home below `folder`. */
export async function prepareStore(folder, write) {
  const store = await openStore(folder);
  await write(store);
  await store[Symbol.asyncDispose]();
}

export async function openStore(folder) {
  const home = join(folder, ".rookery");
  await mkdir(home, { recursive: true });
  return openSqliteStore({ path: join(home, "rookery.db") });
}

export function startServer(folder) {
  const node = [...WATCHED, "--import", here("./reads.mjs")];
  return startRookery({ folder, toml: SHELL_AGENT, extra: IDENTITY, node });
}

/** A page of a new profile. */
export async function newPage(browser) {
  const context = await browser.newContext({ viewport: VIEWPORT });
  return { context, page: await context.newPage() };
}

/** A new profile that is signed in. Its page shows the roster. */
export async function signIn(browser, server) {
  const { context, page } = await newPage(browser);
  const { url } = await server.post("tickets", {});
  await page.goto(url);
  await page.getByRole("heading", { name: "Roster" }).waitFor();
  return { context, page };
}

/** The JavaScript heap of a page after a garbage collection, in megabytes. */
export async function measureHeap(page) {
  const client = await page.context().newCDPSession(page);
  await client.send("HeapProfiler.enable");
  for (let round = 0; round < 2; round += 1) await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  await client.detach();
  return usedSize / 1024 ** 2;
}
