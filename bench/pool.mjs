// Measures how long many queued tasks take, compared with the same work without a pool at the same concurrency.
// Run it with `node bench/pool.mjs [--quick]`.
import { fileURLToPath } from "node:url";
import { builtEnvironment, temporaryRepository } from "../dist/testing/index.js";
import { runBare } from "./pool/bare.mjs";
import { within } from "./server/program.mjs";
import { asAgent, startRookery } from "./server/servers.mjs";
import { median, printAlone } from "./table.mjs";

const AGENT = fileURLToPath(new URL("./pool/agent.mjs", import.meta.url));
const THINK_MS = 500;
const AT_ONCE = 4;
const LOOK_MS = 10;

export async function run({ quick = false } = {}) {
  const [count, rounds] = quick ? [12, 1] : [50, 3];
  const command = [process.execPath, AGENT, String(THINK_MS)];
  const [bare, ours] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await inRepository((repository) => byHand({ repository, command, count })));
    ours.push(await inRepository((repository) => byThePool({ repository, command, count })));
  }
  const [floor, value] = [median(bare), median(ours)];
  const thinking = (Math.ceil(count / AT_ONCE) * THINK_MS) / 1000;
  return [
    { name: `${count} tasks think, ${AT_ONCE} at a time`, value: thinking, unit: "s" },
    { name: "floor: a worktree, an agent and a commit each, by hand", value: floor, unit: "s" },
    { name: "the same through the server", ...share(value, floor, 1.3) },
  ];
}

async function byHand({ repository, command, count }) {
  const env = builtEnvironment({ home: repository });
  const from = performance.now();
  await runBare({ repository, env, command, count, atOnce: AT_ONCE });
  return (performance.now() - from) / 1000;
}

function byThePool({ repository, command, count }) {
  const toml = `[defaults]\nagent = "it"\nmax_running = ${AT_ONCE}\n${asAgent({ command })}`;
  return within(
    (folder) => startRookery({ folder, toml }),
    async (server) => {
      const from = performance.now();
      const given = Array.from({ length: count }, (_, index) =>
        server.post("tasks", { id: `task-${index}`, prompt: "go", cwd: repository, permissions: "all" }),
      );
      await Promise.all(given);
      await ended(server, count);
      return (performance.now() - from) / 1000;
    },
  );
}

/** Rejects if a task fails. */
async function ended(server, count) {
  for (;;) {
    const { tasks } = await server.get(`tasks?limit=${count}`);
    const bad = tasks.find(({ status }) => status === "failed" || status === "stopped");
    if (bad !== undefined) throw new Error(`task ${bad.id} ${bad.status}: ${bad.message}`);
    if (tasks.filter(({ status }) => status === "done").length === count) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function inRepository(work) {
  const repository = await temporaryRepository({ "README.md": "A repository to work in.\n" });
  try {
    return await work(repository.path);
  } finally {
    await repository[Symbol.asyncDispose]();
  }
}

function share(value, floor, most) {
  const ratio = value / floor;
  return { value, unit: "s", ratio, target: `≤ ${most}× floor`, ok: ratio <= most };
}

await printAlone(import.meta.url, "Pool", run);
