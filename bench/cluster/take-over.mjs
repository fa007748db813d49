// Measures the time from the kill of a worker until the agent of its task runs again, with the built command.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { builtEnvironment } from "../../dist/testing/index.js";

const CLI = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));
const MAX_WAIT_MS = 120_000;

/** Resolves with milliseconds. `sameHost`: a new worker starts on the host of the killed one; otherwise another host takes over. */
export async function measureTakeOver({ folder, url, schema, ttl, sameHost }) {
  mkdirSync(folder, { recursive: true });
  const hosts = Object.fromEntries(["alpha", "beta"].map((id) => [id, makeHost(folder, id, { url, schema, ttl })]));
  const repository = makeRepository(folder, hosts.alpha);
  const workers = [];
  const startWorker = async (id) => {
    const worker = spawn(process.execPath, [CLI, "worker"], { cwd: repository, env: hosts[id], stdio: "pipe" });
    worker.stderr.resume();
    workers.push(worker);
    await once(worker.stdout, "data");
    worker.stdout.resume();
    return worker;
  };
  try {
    const victim = await startWorker("alpha");
    const start = ["task", "start", "Wait", "--agent", "waits", "--id", "rests", "--detach"];
    execFileSync(process.execPath, [CLI, ...start], { cwd: repository, env: hosts.alpha });
    await untilAgents(folder, 1);
    if (!sameHost) await startWorker("beta");
    const killedAt = performance.now();
    victim.kill("SIGKILL");
    if (sameHost) await startWorker("alpha");
    await untilAgents(folder, 2);
    return performance.now() - killedAt;
  } finally {
    writeFileSync(join(folder, "go"), ""); // the agents end
    for (const worker of workers) await endWorker(worker);
  }
}

function makeHost(folder, id, { url, schema, ttl }) {
  const home = join(folder, id);
  const agent = `echo $$ >> ${folder}/starts; until [ -e ${folder}/go ]; do sleep 0.05; done`;
  const command = JSON.stringify(["sh", "-c", agent]);
  const config = `[lease]\nttl = ${ttl}\n[worker]\nprefer_last_host = 1\n[agents.waits]\nbackend = "command"\ncommand = ${command}\n`;
  write(join(home, ".config", "rookery", "rookery.toml"), config);
  write(join(home, "gitconfig"), "[user]\n\tname = Bench\n\temail = bench@example.invalid\n");
  const extra = { ROOKERY_STORE_URL: url, ROOKERY_STORE_SCHEMA: schema, ROOKERY_HOST_ID: id };
  return builtEnvironment({ home, extra: { ...extra, GIT_CONFIG_GLOBAL: join(home, "gitconfig") } });
}

/** Any host can run a task of a repository with a remote. */
function makeRepository(folder, env) {
  const repository = join(folder, "repository");
  const git = (...args) => execFileSync("git", args, { cwd: repository, env, stdio: "pipe" });
  write(join(repository, "a.txt"), "one\n");
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=one");
  git("clone", "--quiet", "--bare", repository, join(folder, "origin.git"));
  git("remote", "add", "origin", join(folder, "origin.git"));
  git("fetch", "--quiet", "origin");
  return repository;
}

async function untilAgents(folder, count) {
  const deadline = performance.now() + MAX_WAIT_MS;
  const file = join(folder, "starts");
  while (!existsSync(file) || readFileSync(file, "utf8").trim().split("\n").length < count) {
    if (performance.now() > deadline) throw new Error(`the agent did not start ${count} times`);
    await sleep(10);
  }
}

async function endWorker(worker) {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const exited = once(worker, "exit");
  worker.kill("SIGTERM");
  await exited;
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
