// Measures the memory of an idle session that is open, leased and has run one turn.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Rookery } from "../dist/index.js";
import { builtEnvironment, say, startModelServer, temporaryFolder } from "../dist/testing/index.js";
import { printAlone } from "./table.mjs";

const KB = 1024;
const TARGET_KB = 20;

/** Runs in a separate process with an exposed garbage collector. */
export async function run({ quick = false } = {}) {
  const args = ["--expose-gc", fileURLToPath(import.meta.url), "--measure", String(quick ? 200 : 1_000)];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const { heap, rss } = JSON.parse(stdout);
  return [
    {
      name: "an idle session, heap",
      value: heap / KB,
      unit: "KB",
      target: `≤ ${TARGET_KB} KB`,
      ok: heap <= TARGET_KB * KB,
    },
    { name: "an idle session, resident memory", value: rss / KB, unit: "KB" },
  ];
}

async function measure(count) {
  const folder = await temporaryFolder();
  const model = await startModelServer(() => say("hi"), { maxRequests: 10 });
  const extra = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" };
  const env = builtEnvironment({ home: folder.path, extra });
  const rookery = await Rookery.open({ env, cwd: folder.path });
  const open = async (sessions) => {
    for (let index = 0; index < sessions; index += 1) {
      const session = await rookery.openSession({ permissions: "none" });
      if (index < 3) await session.prompt("hi").outcome; // more turns would measure the requests that the scripted server keeps
    }
  };
  await open(50);
  const before = settled();
  await open(count);
  const after = settled();
  console.log(JSON.stringify({ heap: (after.heap - before.heap) / count, rss: (after.rss - before.rss) / count }));
  await rookery.close();
  await model.close();
  await folder[Symbol.asyncDispose]();
}

function settled() {
  for (let round = 0; round < 3; round += 1) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

const [, , flag, count] = process.argv;
if (flag === "--measure") await measure(Number(count));
else await printAlone(import.meta.url, "Idle sessions", run);
