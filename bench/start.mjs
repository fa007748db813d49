// Measures the startup time of the command, compared with a bare Node process in the same run.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { builtEnvironment, say, startModelServer, temporaryFolder } from "../dist/testing/index.js";
import { median, printAlone } from "./table.mjs";

const CLI = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));

export async function run({ quick = false } = {}) {
  const rounds = quick ? 5 : 21;
  const folder = await temporaryFolder();
  const model = await startModelServer(() => say("hi"), { maxRequests: rounds * 2 });
  const extra = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" };
  const env = builtEnvironment({ home: folder.path, extra });
  const options = { cwd: folder.path, env };
  const bare = [];
  const version = [];
  const first = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(timed(() => spawnSync(process.execPath, ["-e", "0"], options)));
    version.push(timed(() => spawnSync(process.execPath, [CLI, "--version"], options)));
    first.push(await untilFirstRequest(model, round, options));
  }
  await model.close();
  await folder[Symbol.asyncDispose]();
  const floor = median(bare);
  const row = (name, times, target) => {
    const value = median(times);
    return { name, value, unit: "ms", target: `≤ ${target}× node`, ratio: value / floor, ok: value / floor <= target };
  };
  return [
    { name: "floor: node -e 0", value: floor, unit: "ms" },
    row("rookery --version", version, 2),
    row("rookery run, until its first request arrives", first, 4),
  ];
}

async function untilFirstRequest(model, index, options) {
  const started = performance.now();
  const child = spawn(process.execPath, [CLI, "run", "hi", "--permissions", "none"], { ...options, stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await model.received(index);
  const took = performance.now() - started;
  await ended;
  return took;
}

function timed(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}

await printAlone(import.meta.url, "Start", run);
