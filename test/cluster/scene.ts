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
import { startPostgresCluster, startPostgresPair, type PostgresCluster } from "../../scripts/postgres-cluster.mjs";
import { killAllWith, processesWith, type FoundProcess } from "../fleet/processes.ts";
import { CLI } from "../fleet/server.ts";
import { openNetwork, type TestHost } from "./network.ts";

const run = promisify(execFile);
const RELAY = fileURLToPath(new URL("relay.mjs", import.meta.url));
/** The port of the first database server. The second one has the next port. */
const DATABASE_PORT = 5432;
const HTTP_PORT = 4400;
const GIT_PORT = 9418;
const STOP_MS = 20_000;
const IDENTITY = "[user]\n\tname = Cluster\n\temail = cluster@example.invalid\n";
/** Runs the lines of the prompt that start with `run:`, even of a resume prompt. */
const AGENT = `printf '%s\\n' "$1" | sed -n 's/^run: //p' > "$TMPDIR/script.$$"; . "$TMPDIR/script.$$"`;

export interface WorkerHost extends TestHost {
  readonly env: Readonly<Record<string, string>>;
  /** A clone of the remote. */
  readonly clone: string;
  /** Starts `rookery worker` and resolves when it has registered. `cli`: the program. Default: the built command. */
  start(options?: { readonly cli?: string }): Promise<void>;
  /**
   * Starts `rookery serve --no-tasks`, after it has ended the server that runs, and resolves with its URL, which only
   * the hosts reach.
   */
  startServer(token: string, options?: { readonly cli?: string }): Promise<string>;
  /** The process of the worker. Throws if it does not run. */
  readonly worker: ChildProcess;
  kill(): Promise<void>;
  /** Ends the worker and the server with SIGTERM. */
  stop(): Promise<void>;
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
  /** The machine with the database and the remote. */
  readonly services: TestHost;
  /** In the environment of all processes of the scene. */
  readonly variables: Readonly<Record<string, string>>;
  /** The URL of `store`. */
  readonly databaseUrl: string;
  /** The primary, and its synchronous standby if it was asked for. */
  readonly databases: readonly PostgresCluster[];
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
  /** Adds a synchronous standby, and gives the hosts the addresses of both servers. Default: false. */
  readonly withStandby?: boolean;
  /** The files of the repository. Default: a README. */
  readonly files?: Readonly<Record<string, string>>;
  /** The agent of tasks that name none. Default: the agent `shell`. */
  readonly agent?: string;
  /** How many tasks run at once on all hosts. Default: 6. */
  readonly maxRunning?: number;
  /** Added to the configuration of each host. `folder`: a folder of the scene. */
  readonly config?: (folder: string) => string;
}

let opened = 0;

export async function openCluster(options: ClusterOptions = {}): Promise<ClusterScene> {
  const { leaseTtl = 4, files = { "README.md": "hello\n" }, config = () => "" } = options;
  const { agent = "shell", maxRunning = 6 } = options;
  opened += 1;
  const runId = `${process.pid}-${opened}`;
  const owned = new DisposeStack();
  try {
    const { path: folder } = owned.use(await temporaryFolder());
    owned.defer(() => killAllWith(`CLUSTER_RUN=${runId}`));
    const network = owned.use(await openNetwork(["db", "a", "b", "c"]));
    const databases = await startDatabases(options);
    for (const database of databases) owned.defer(() => database.stop());
    const { db } = network.hosts;
    if (db === undefined) throw new Error("the network has no host db");
    const services = builtEnvironment({ home: join(folder, "db"), extra: { CLUSTER_RUN: runId } });
    const remote = await makeRemote(folder, files);
    for (const [index, { socket }] of databases.entries()) {
      const relay = db.spawn(process.execPath, [RELAY, socket, db.address, String(DATABASE_PORT + index)], {
        env: services,
        stdio: ["ignore", "pipe", "inherit"],
      });
      owned.defer(() => end(relay, "SIGKILL"));
      if (relay.stdout !== null) await once(relay.stdout, "data");
    }
    const daemonOptions = ["--export-all", "--enable=receive-pack", `--base-path=${folder}`, "--reuseaddr"];
    const daemon = db.spawn("git", ["daemon", ...daemonOptions, `--listen=${db.address}`], {
      env: services,
      stdio: "ignore",
    });
    owned.defer(() => end(daemon, "SIGKILL"));
    const ledger = join(folder, "ledger");
    await writeFile(ledger, "");
    const servers = databases.map((_, index) => `${db.address}:${DATABASE_PORT + index}`);
    const url = `postgres://postgres@${servers.join(",")}/postgres`;
    const remoteUrl = `git://${db.address}:${GIT_PORT}/project.git`;
    const more = `[defaults]\nagent = "${agent}"\nmax_running = ${maxRunning}\n${config(folder)}`;
    const setUp = (name: string) => setUpHost({ folder, name, runId, url, remoteUrl, ledger, leaseTtl, more, network });
    const hosts = { a: await setUp("a"), b: await setUp("b"), c: await setUp("c") };
    for (const host of Object.values(hosts)) owned.defer(() => host.kill());
    const sockets = databases.map((database) => database.folder).join(",");
    const directUrl = `postgres://postgres@localhost/postgres?host=${sockets}`;
    const store = owned.use(await openPostgresStore({ url: directUrl, timeout: 60_000 }));
    return {
      store,
      hosts,
      services: db,
      variables: { CLUSTER_RUN: runId },
      databaseUrl: directUrl,
      databases,
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

async function startDatabases({ withStandby = false }: ClusterOptions): Promise<readonly PostgresCluster[]> {
  if (!withStandby) return [await startPostgresCluster()];
  const { primary, standby } = await startPostgresPair();
  return [primary, standby];
}

/** A bare repository with one commit, which `git daemon` serves. */
async function makeRemote(folder: string, files: Readonly<Record<string, string>>): Promise<string> {
  await using source = await temporaryRepository(files);
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
  /** Added to the configuration. */
  readonly more: string;
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
  await writeFile(userConfigFile(env), hostConfig(join(home, "agent.sh"), setup.leaseTtl) + setup.more);
  const clone = join(home, "clone");
  const inHost = (program: string, args: readonly string[]) => run(...host.command(program, args), { env, cwd: home });
  await inHost("git", ["clone", "--quiet", setup.remoteUrl, clone]);
  let worker: ChildProcess | undefined;
  let server: ChildProcess | undefined;
  let printed = "";
  /** Starts a command that runs until it is ended, and resolves when it has printed a line. */
  const startCommand = async (cli: string, args: readonly string[]): Promise<ChildProcess> => {
    const child = host.spawn(process.execPath, [cli, ...args], { env, cwd: clone, stdio: ["ignore", "pipe", "pipe"] });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (printed += text));
    const ready = child.stdout === null ? Promise.resolve() : once(child.stdout, "data");
    const exited = once(child, "exit").then(() => {
      throw new Error(`rookery ${args.join(" ")} on host ${name} exited:\n${printed}`);
    });
    exited.catch(() => undefined);
    await Promise.race([ready, exited]);
    child.stdout?.resume();
    return child;
  };
  return {
    ...host,
    env,
    clone,
    get worker() {
      if (worker === undefined) throw new Error(`no worker runs on host ${name}`);
      return worker;
    },
    printed: () => printed,
    async start({ cli = CLI } = {}) {
      worker = await startCommand(cli, ["worker", "--json"]);
    },
    async startServer(token, { cli = CLI } = {}) {
      if (server !== undefined) await end(server, "SIGTERM");
      const port = String(HTTP_PORT);
      const args = ["serve", "--no-tasks", "--json", "--host", host.address, "--port", port, "--token", token];
      server = await startCommand(cli, args);
      return `http://${host.address}:${port}`;
    },
    async kill() {
      for (const child of [worker, server]) if (child !== undefined) await end(child, "SIGKILL");
      worker = undefined;
      server = undefined;
    },
    async stop() {
      for (const child of [worker, server]) if (child !== undefined) await end(child, "SIGTERM");
    },
    async rookery(...args) {
      const [program, all] = host.command(process.execPath, [CLI, ...args]);
      return (await run(program, all, { env, cwd: clone })).stdout;
    },
    children: () =>
      processesWith(`CLUSTER_HOST=${extra.CLUSTER_HOST}`).filter(
        ({ pid }) => ![worker?.pid, server?.pid].includes(pid),
      ),
  };
}

function hostConfig(agent: string, leaseTtl: number): string {
  return `[agents.shell]
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
