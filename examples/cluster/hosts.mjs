// Three hosts on one machine: each has its own home, host id and configuration, as a machine of its own would have.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SAMPLE_FILES, sampleConfig } from "../fleet/sample.mjs";

const CLI = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));
/** Seconds. The default is 30; here nobody wants to wait that long. */
const LEASE_TTL = 6;

/** What a repository without local files needs: a worktree gets its .env from the setup. */
const SETUP = `echo GREETING=Hello > .env; echo "$ROOKERY_TASK uses port $ROOKERY_PORT" > .ready`;

/** Creates the sample repository with a bare remote, as every host would clone it. */
export function makeSharedRepository(folder) {
  const repository = join(folder, "hello");
  const remote = join(folder, "hello.git");
  const env = environment(folder, "user");
  const git = (...args) => execFileSync("git", args, { cwd: repository, env, encoding: "utf8", stdio: "pipe" }).trim();
  mkdirSync(repository, { recursive: true });
  for (const [file, text] of Object.entries(SAMPLE_FILES)) writeFileSync(join(repository, file), text);
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Cluster");
  git("config", "user.email", "cluster@example.invalid");
  git("add", "--all");
  git("commit", "--quiet", "--message=Say hello");
  git("clone", "--quiet", "--bare", repository, remote);
  git("remote", "add", "origin", remote);
  git("fetch", "--quiet", "origin");
  git("branch", "--quiet", "--set-upstream-to=origin/main");
  return { repository, remote: (...args) => git(`--git-dir=${remote}`, ...args) };
}

/** `storeUrl`: the database that all hosts share. */
export function makeHost(folder, name, { storeUrl, token }) {
  const env = environment(folder, name, { ROOKERY_HOST_ID: name, ROOKERY_STORE_URL: storeUrl, ROOKERY_TOKEN: token });
  const agents = sampleConfig({ notes: join(folder, "notes"), copy: [], setup: SETUP });
  const settings = `[defaults]
max_running = 4

[lease]
ttl = ${LEASE_TTL}

[worker]
max_running = 2
prefer_last_host = 1

`;
  write(join(env.XDG_CONFIG_HOME, "rookery", "rookery.toml"), settings + agents);
  write(join(env.HOME, ".gitconfig"), "[user]\n\tname = Cluster\n\temail = cluster@example.invalid\n");
  const start = (...args) => {
    const child = spawn(process.execPath, [CLI, ...args], { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    child.printed = "";
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding("utf8").on("data", (text) => (child.printed += text));
    }
    return child;
  };
  return {
    name,
    env,
    run: (...args) => execFileSync(process.execPath, [CLI, ...args], { env, cwd: folder, encoding: "utf8" }),
    async startWorker() {
      const worker = start("worker");
      await untilPrinted(worker, /runs tasks on host/);
      return worker;
    },
    async startServer(port) {
      const server = start("serve", "--no-tasks", "--port", String(port));
      await untilPrinted(server, /http:/);
      return server;
    },
  };
}

export async function end(child, signal = "SIGTERM") {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, "exit");
  child.kill(signal);
  await over;
}

/** No keys or settings of the real user, and a separate home. */
function environment(folder, name, extra = {}) {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true });
  return {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_STATE_HOME: join(home, ".state"),
    ROOKERY_HOME: join(home, "rookery"),
    GIT_CONFIG_NOSYSTEM: "1",
    ...extra,
  };
}

async function untilPrinted(child, pattern) {
  while (!pattern.test(child.printed)) {
    if (child.exitCode !== null) throw new Error(`rookery exited with code ${child.exitCode}:\n${child.printed}`);
    await Promise.race([once(child.stdout, "data"), once(child.stderr, "data"), once(child, "exit")]);
  }
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
