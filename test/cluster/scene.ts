/**
 * Three hosts with a worker each, and a fourth with the database and the git remote. Each host has its own network
 * namespace, home and host id; they share one file system, so that the test sees what each of them does.
 */
import { execFile, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { userConfigFile } from "../../src/config/index.ts";
import type { Store } from "../../src/domain/index.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { builtEnvironment, temporaryFolder, temporaryRepository } from "../../src/testing/index.ts";
import { startPostgresCluster } from "../../scripts/postgres-cluster.mjs";
import { killAllWith, processesWith, type FoundProcess } from "../fleet/processes.ts";
import { CLI } from "../fleet/server.ts";
import { openNetwork, type TestHost } from "./network.ts";

const run = promisify(execFile);
const RELAY = fileURLToPath(new URL("relay.mjs", import.meta.url));
const DATABASE_PORT = 5432;
const GIT_PORT = 9418;
const STOP_MS = 20_000;
const IDENTITY = "[user]\n\tname = Cluster\n\temail = cluster@example.invalid\n";
/** Runs the lines of the prompt that start with `run:`, even of a resume prompt. */
const AGENT = `printf '%s\\n' "$1" | sed -n 's/^run: //p' > "$TMPDIR/script.$$"; . "$TMPDIR/script.$$"`;

export interface WorkerHost extends TestHost {
  readonly env: Readonly<Record<string, string>>;
  /** Starts `rookery worker` and resolves when it has registered. */
  start(): Promise<void>;
  /** The process of the worker. Throws if it does not run. */
  readonly worker: ChildProcess;
  kill(): Promise<void>;
  /** Runs a command of Rookery on the host. Rejects if it fails. */
  rookery(...args: string[]): Promise<string>;
  /** What the worker printed on stderr. */
  printed(): string;
  /** Processes of the host, except for the worker itself. */
  children(): readonly FoundProcess[];
}

export interface ClusterScene extends AsyncDisposable {
  /** The same log as that of the hosts, which the network cannot cut off. */
  readonly store: Store;
  readonly hosts: Readonly<Record<"a" | "b" | "c", WorkerHost>>;
  /** Where agents report, one line each: `HOST WHAT`. */
  readonly ledger: string;
  /** A file that agents wait for. */
  readonly go: string;
  readonly readLedger: () => Promise<readonly string[]>;
  remoteGit(...args: string[]): Promise<string>;
}

export interface ClusterOptions {
  /** Seconds. Default: 4. */
  readonly leaseTtl?: number;
}

let opened = 0;

export async function openCluster({ leaseTtl = 4 }: ClusterOptions = {}): Promise<ClusterScene> {
  opened += 1;
  const runId = `${process.pid}-${opened}`;
  const owned = new DisposeStack();
  try {
    const { path: folder } = owned.use(await temporaryFolder());
    owned.defer(() => killAllWith(`CLUSTER_RUN=${runId}`));
    const network = owned.use(await openNetwork(["db", "a", "b", "c"]));
    const database = await startPostgresCluster();
    owned.defer(() => database.stop());
    const { db } = network.hosts;
    if (db === undefined) throw new Error("the network has no host db");
    const services = builtEnvironment({ home: join(folder, "db"), extra: { CLUSTER_RUN: runId } });
    const remote = await makeRemote(folder);
    const relay = db.spawn(process.execPath, [RELAY, database.socket, db.address, String(DATABASE_PORT)], {
      env: services,
      stdio: ["ignore", "pipe", "inherit"],
    });
    owned.defer(() => end(relay, "SIGKILL"));
    if (relay.stdout !== null) await once(relay.stdout, "data");
    const daemonOptions = ["--export-all", "--enable=receive-pack", `--base-path=${folder}`, "--reuseaddr"];
    const daemon = db.spawn("git", ["daemon", ...daemonOptions, `--listen=${db.address}`], {
      env: services,
      stdio: "ignore",
    });
    owned.defer(() => end(daemon, "SIGKILL"));
    const ledger = join(folder, "ledger");
    await writeFile(ledger, "");
    const url = `postgres://postgres@${db.address}:${DATABASE_PORT}/postgres`;
    const remoteUrl = `git://${db.address}:${GIT_PORT}/project.git`;
    const setUp = (name: string) => setUpHost({ folder, name, runId, url, remoteUrl, ledger, leaseTtl, network });
    const hosts = { a: await setUp("a"), b: await setUp("b"), c: await setUp("c") };
    for (const host of Object.values(hosts)) owned.defer(() => host.kill());
    const store = owned.use(await openPostgresStore({ url: database.url }));
    return {
      store,
      hosts,
      ledger,
      go: join(folder, "go"),
      readLedger: async () => (await readFile(ledger, "utf8")).split("\n").slice(0, -1),
      remoteGit: async (...args) => {
        const { stdout } = await run("git", [`--git-dir=${remote}`, ...args], { env: services });
        return stdout.trimEnd();
      },
      [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
    };
  } catch (error) {
    await owned[Symbol.asyncDispose]();
    throw error;
  }
}

/** A bare repository with one commit, which `git daemon` serves. */
async function makeRemote(folder: string): Promise<string> {
  await using source = await temporaryRepository({ "README.md": "hello\n" });
  const remote = join(folder, "project.git");
  await source.git("clone", "--quiet", "--bare", source.path, remote);
  return remote;
}

interface HostSetup {
  readonly folder: string;
  readonly name: string;
  /** In the environment of all processes of the scene. */
  readonly runId: string;
  readonly url: string;
  readonly remoteUrl: string;
  readonly ledger: string;
  readonly leaseTtl: number;
  readonly network: Awaited<ReturnType<typeof openNetwork>>;
}

async function setUpHost({ name, runId, network, ...setup }: HostSetup): Promise<WorkerHost> {
  const host = network.hosts[name];
  if (host === undefined) throw new Error(`the network has no host ${name}`);
  const home = join(setup.folder, name);
  const extra = {
    CLUSTER_RUN: runId,
    CLUSTER_HOST: `${runId}-${name}`,
    ROOKERY_HOST_ID: name,
    ROOKERY_STORE_URL: setup.url,
    HOST_NAME: name,
    LEDGER: setup.ledger,
    GO: join(setup.folder, "go"),
    TMPDIR: home,
    GIT_CONFIG_GLOBAL: join(home, "gitconfig"),
  };
  const env = builtEnvironment({ home, extra });
  await mkdir(dirname(userConfigFile(env)), { recursive: true });
  await writeFile(join(home, "gitconfig"), IDENTITY);
  await writeFile(join(home, "agent.sh"), AGENT);
  await writeFile(userConfigFile(env), hostConfig(join(home, "agent.sh"), setup.leaseTtl));
  const clone = join(home, "clone");
  const inHost = (program: string, args: readonly string[]) => run(...host.command(program, args), { env, cwd: home });
  await inHost("git", ["clone", "--quiet", setup.remoteUrl, clone]);
  let worker: ChildProcess | undefined;
  let printed = "";
  return {
    ...host,
    env,
    get worker() {
      if (worker === undefined) throw new Error(`no worker runs on host ${name}`);
      return worker;
    },
    printed: () => printed,
    async start() {
      const child = host.spawn(process.execPath, [CLI, "worker", "--json"], {
        env,
        cwd: clone,
        stdio: ["ignore", "pipe", "pipe"],
      });
      worker = child;
      child.stderr?.setEncoding("utf8").on("data", (text: string) => (printed += text));
      const registered = child.stdout === null ? Promise.resolve() : once(child.stdout, "data");
      const exited = once(child, "exit").then(() => {
        throw new Error(`the worker of host ${name} exited:\n${printed}`);
      });
      exited.catch(() => undefined);
      await Promise.race([registered, exited]);
    },
    async kill() {
      if (worker !== undefined) await end(worker, "SIGKILL");
      worker = undefined;
    },
    async rookery(...args) {
      const [program, all] = host.command(process.execPath, [CLI, ...args]);
      return (await run(program, all, { env, cwd: clone })).stdout;
    },
    children: () => processesWith(`CLUSTER_HOST=${extra.CLUSTER_HOST}`).filter(({ pid }) => pid !== worker?.pid),
  };
}

function hostConfig(agent: string, leaseTtl: number): string {
  return `[defaults]
agent = "shell"
max_running = 6
[agents.shell]
backend = "command"
command = ["sh", ${JSON.stringify(agent)}, "{prompt}"]
[host]
save_interval = 1
[lease]
ttl = ${leaseTtl}
renew = ${leaseTtl / 4}
[worker]
max_running = 2
prefer_last_host = 0
[pipelines.merged]
stages = [{ name = "work", agent = "shell" }, { name = "merge", merge = "squash" }]
`;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, "exit");
  child.kill(signal);
  const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await over;
  clearTimeout(late);
}
