// Measures the overhead of the built-in agent over its model and tools: per step, for text on its way to the terminal,
// and with many sessions. Run it with `node bench/agent.mjs [--quick]`. The model is a separate process.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Rookery } from "../dist/index.js";
import { builtEnvironment, temporaryFolder } from "../dist/testing/index.js";
import { bareTurn } from "./agent/bare.mjs";
import { now, startModel } from "./agent/model.mjs";
import { median, printAlone, quantile } from "./table.mjs";

const MB = 1024 * 1024;
const CALLS = 20;
const MANY = 100;
const [COMMAND, BARE] = ["../dist/cli/main.cjs", "./agent/bare.mjs"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

export async function run({ quick = false } = {}) {
  return [
    ...(await stepping({ rounds: quick ? 5 : 30 })),
    ...(await streaming({ pieces: quick ? 50 : 300, rounds: quick ? 1 : 3 })),
    ...many({ steps: 5, delay: 200, rounds: quick ? 1 : 3 }),
  ];
}

async function within(work) {
  const folder = await temporaryFolder();
  const model = await startModel();
  try {
    await writeFile(join(folder.path, "file"), "text\n".repeat(20));
    const extra = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" };
    return await work({ model, folder: folder.path, env: builtEnvironment({ home: folder.path, extra }) });
  } finally {
    await model.close();
    await folder[Symbol.asyncDispose]();
  }
}

/** Replaces the agent's tool with the one of the baseline, so that both spend the same time in the tool. */
const READING = {
  id: "reading",
  list: () => READS,
  describe: ({ input }) => ({ title: `read ${input.path}` }),
  call: async ({ input }, { cwd }) => ({ outcome: "ok", text: await readFile(join(cwd, input.path), "utf8") }),
};
const READS = [
  {
    name: "read",
    description: "Reads a file.",
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
    kind: "read",
    readOnly: true,
  },
];

function stepping({ rounds }) {
  return within(async ({ model, folder, env }) => {
    const rookery = await Rookery.open({ env, cwd: folder });
    const prompt = `steps=${CALLS}`;
    const ours = async () => {
      const session = await rookery.openSession({ permissions: "all" });
      session.setOverlay({ sources: [READING] });
      const took = await timed(async () => mustBeDone(await session.prompt(prompt).outcome));
      await session[Symbol.asyncDispose]();
      return took;
    };
    const bare = () => timed(() => bareTurn(model.url, { prompt, folder }));
    const [floor, found] = await inTurns(rounds, [bare, ours]);
    await rookery.close();
    const perStep = (median(found) - median(floor)) / (CALLS + 1);
    return [
      { name: `floor: ${CALLS + 1} requests and ${CALLS} reads, nothing else`, value: median(floor), unit: "ms" },
      {
        name: `a turn with ${CALLS} calls, on the journal`,
        value: median(found),
        unit: "ms",
        ratio: median(found) / median(floor),
      },
      { name: "what the agent adds to a step", ...atMost(perStep, 3, "ms") },
    ];
  });
}

function streaming({ pieces, rounds }) {
  return within(async ({ model, folder, env }) => {
    const prompt = `pieces=${pieces} every=10`;
    const bare = () => delays([BARE, "--print", model.url, prompt], { cwd: folder, env });
    const ours = () => delays([COMMAND, "run", prompt, "--permissions", "none"], { cwd: folder, env });
    const [floor, found] = (await inTurns(rounds, [bare, ours])).map((all) => all.flat());
    const added = median(found) - median(floor);
    return [
      { name: "floor: a piece from the model to a pipe, p50", value: median(floor), unit: "ms" },
      {
        name: "a piece from the model through `rookery run`, p50",
        value: median(found),
        unit: "ms",
        ratio: median(found) / median(floor),
      },
      { name: "the same, p99", value: quantile(found, 0.99), unit: "ms" },
      { name: "what Rookery adds to it, p50", ...atMost(added, 3, "ms") },
    ];
  });
}

/** The delay between the writing of each chunk and its output by the program. */
async function delays(args, { cwd, env }) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const found = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const at = now();
    const whole = (rest + text).split(";");
    rest = whole.pop() ?? "";
    for (const stamp of whole) {
      const [written] = /\d{12,}\.\d+$/.exec(stamp) ?? [];
      if (written !== undefined) found.push(at - Number(written));
    }
  });
  const [code] = await once(child, "close");
  if (code !== 0 || found.length === 0)
    throw new Error(`${args.join(" ")} exited with code ${code} after ${found.length} chunks`);
  return found;
}

/** Runs in a separate process with an exposed garbage collector. */
function many({ steps, delay, rounds }) {
  const args = ["--expose-gc", fileURLToPath(import.meta.url), "--many", String(steps), String(delay), String(rounds)];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const { took, floor, heap, rss } = JSON.parse(stdout);
  const ideal = (steps + 1) * delay;
  return [
    { name: `floor: ${MANY} × ${steps + 1} requests at once, nothing else`, value: median(floor), unit: "ms" },
    {
      name: `${MANY} turns at once, where the model alone takes ${ideal} ms`,
      value: median(took),
      unit: "ms",
      ratio: median(took) / median(floor),
    },
    { name: "the same, beside what the model alone takes", ...atMost(median(took) / ideal, 2, "×") },
    { name: "a running session, heap", ...atMost(heap / MB, 1, "MB") },
    { name: "a running session, resident memory", value: rss / MB, unit: "MB" },
  ];
}

function measureMany(steps, delay, rounds) {
  return within(async ({ model, folder, env }) => {
    const rookery = await Rookery.open({ env, cwd: folder });
    const sessions = [];
    for (let index = 0; index < MANY; index += 1) sessions.push(await rookery.openSession({ permissions: "all" }));
    const all = (prompt) =>
      Promise.all(sessions.map(async (session) => mustBeDone(await session.prompt(prompt).outcome)));
    await all("steps=0"); // warm up: loads modules on first use
    const renew = async () => {
      for (const session of sessions.splice(0)) await session[Symbol.asyncDispose]();
      for (let index = 0; index < MANY; index += 1) sessions.push(await rookery.openSession({ permissions: "all" }));
    };
    const prompt = `steps=${steps} delay=${delay}`;
    const bare = () => timed(() => Promise.all(sessions.map(() => bareTurn(model.url, { prompt, folder }))));
    const ours = async () => {
      await renew(); // the model counts the steps of a session
      return timed(() => all(prompt));
    };
    const [floor, took] = await inTurns(rounds, [bare, ours]);
    await renew();
    const before = settled();
    const held = all(`steps=${steps} hold`);
    while ((await model.held()) < MANY) await new Promise((resolve) => setTimeout(resolve, 20));
    const after = settled();
    await model.release();
    await held;
    await rookery.close();
    return { took, floor, heap: (after.heap - before.heap) / MANY, rss: (after.rss - before.rss) / MANY };
  });
}

function settled() {
  for (let round = 0; round < 3; round += 1) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

/** Warms up each, and then lets them take turns, so that load on the machine affects both. */
async function inTurns(rounds, ways) {
  const found = ways.map(() => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, way] of ways.entries()) {
      const took = await way();
      if (round >= 0) found[index].push(took);
    }
  }
  return found;
}

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function mustBeDone(outcome) {
  if (outcome.status !== "done") throw new Error(`a turn ended ${JSON.stringify(outcome)}`);
}

function atMost(value, most, unit) {
  return { value, unit, target: `≤ ${most} ${unit}`, ok: value <= most };
}

const [, , flag, ...figures] = process.argv;
if (flag === "--many") console.log(JSON.stringify(await measureMany(...figures.map(Number))));
else await printAlone(import.meta.url, "The built-in agent", run);
