// Measures how long a task waits for its worktree, compared with plain `git worktree add` in the same repository.
// Run it with `node bench/worktrees.mjs [--quick]`.
import { execFile } from "node:child_process";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { builtEnvironment, temporaryRepository } from "../dist/testing/index.js";
import { within } from "./server/program.mjs";
import { asAgent, startRookery } from "./server/servers.mjs";
import { median, printAlone } from "./table.mjs";

const AGENT = fileURLToPath(new URL("./pool/agent.mjs", import.meta.url));
const IN_A_FOLDER = 100;
const LOOK_MS = 10;

export async function run({ quick = false } = {}) {
  const [files, rounds] = quick ? [1_000, 3] : [10_000, 9];
  const repository = await withFiles(files);
  const toml = asAgent({ command: [process.execPath, AGENT, "0"] });
  try {
    const [floor, value] = await within(
      (folder) => startRookery({ folder, toml }),
      async (server) => {
        const [bare, ours] = [[], []];
        for (let round = 0; round <= rounds; round += 1) {
          bare.push(await byHand(repository.path, `bare-${round}`));
          ours.push(await byATask(server, repository.path, `task-${round}`));
        }
        return [bare, ours].map(([, ...warm]) => median(warm));
      },
    );
    const ratio = value / floor;
    return [
      { name: `floor: git worktree add of ${files.toLocaleString("en")} files`, value: floor, unit: "ms" },
      {
        name: "a task is taken until its worktree is ready",
        value,
        unit: "ms",
        ratio,
        target: "≤ 1.3× floor",
        ok: ratio <= 1.3,
      },
    ];
  } finally {
    await repository[Symbol.asyncDispose]();
  }
}

async function byHand(repository, name) {
  const env = builtEnvironment({ home: repository });
  const from = performance.now();
  await promisify(execFile)("git", ["worktree", "add", "-q", "-b", name, join(repository, ".bare", name)], {
    cwd: repository,
    env,
  });
  return performance.now() - from;
}

/** Reads the time from the task's log. The next task starts when this one has ended. */
async function byATask(server, repository, id) {
  await server.post("tasks", { id, prompt: "go", cwd: repository, permissions: "all" });
  for (;;) {
    const { status, message, worktree } = await server.get(`tasks/${id}`);
    if (status === "failed" || status === "stopped") throw new Error(`task ${id} ${status}: ${message}`);
    if (status === "done") {
      if (!(await stat(join(worktree.path, ".git"))).isFile())
        throw new Error(`${worktree.path} has its own git objects`);
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const { events } = await server.get(`tasks/${id}/events`);
  const at = (type) => Date.parse(events.find(({ event }) => event.type === type).event.at);
  return at("worktree.ready") - at("task.started");
}

async function withFiles(count) {
  const repository = await temporaryRepository({}, { commit: false });
  for (let folder = 0; folder < count / IN_A_FOLDER; folder += 1) {
    const path = join(repository.path, `folder-${folder}`);
    await mkdir(path);
    const file = (index) => writeFile(join(path, `file-${index}.txt`), `${folder} ${index}\n`.repeat(100));
    await Promise.all(Array.from({ length: IN_A_FOLDER }, (_, index) => file(index)));
  }
  await repository.git("add", "--all");
  await repository.git("commit", "--quiet", "--message=Many files");
  return repository;
}

await printAlone(import.meta.url, "Worktrees", run);
