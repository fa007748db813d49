/** The scene of `examples/fleet`: the sample, a server that can be killed and comes back, and the story as another process. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { CollectReport, LogEvent, TaskView } from "./domain/index.ts";
import { builtEnvironment, temporaryFolder } from "./testing/index.ts";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const CLI = path("../dist/cli/main.cjs");
const STORY = path("test-fleet-story.mjs");
const TOKEN = "a-token-that-only-this-test-knows";
const START_MS = 20_000;
const STOP_MS = 15_000;

/** What the story saw at its end. */
export interface Seen {
  readonly stopped: TaskView;
  readonly resumed: TaskView;
  readonly refused: NonNullable<TaskView["merge"]>;
  readonly nothing: NonNullable<TaskView["merge"]>;
  readonly promised: CollectReport;
  readonly collected: CollectReport;
  readonly views: readonly TaskView[];
}

export interface Told {
  readonly events: readonly { readonly position: number; readonly event: LogEvent }[];
  readonly seen: Seen;
}

type Line = { readonly words: string } | { readonly event: LogEvent; readonly position: number } | { seen: Seen };

export interface Fleet extends AsyncDisposable {
  readonly repository: string;
  readonly notes: string;
  /** Of Rookery. */
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
  readonly token: string;
  /** What the server printed. */
  readonly printed: () => string;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Gracefully. */
  stop(): Promise<void>;
  play(onPosition?: (position: number) => void): Promise<Told>;
  readonly git: (...args: string[]) => Promise<string>;
  /** Commands of whatever runs because of this scene, of the owners that `of` says. */
  readonly processes: (of?: (owner: string | undefined) => boolean) => readonly string[];
}

let opened = 0;

export async function openFleet(): Promise<Fleet> {
  const folder = await temporaryFolder();
  const run = `${process.pid}-${(opened += 1)}`;
  const env = builtEnvironment({ home: join(folder.path, "home"), extra: { FLEET_RUN: run } });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { makeSample } = (await import(path("../examples/fleet/sample.mjs"))) as {
    makeSample: (folder: string, env: object) => { repository: string; notes: string };
  };
  const { repository, notes } = makeSample(folder.path, env);
  await promisify(execFile)(process.execPath, [CLI, "trust", repository], { env });
  const children = new Set<ChildProcess>();
  let server: ChildProcess | undefined;
  let printed = "";

  const started = (args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, args, { cwd: folder.path, env, stdio: ["ignore", "pipe", "pipe"] });
    children.add(child);
    child.once("exit", () => children.delete(child));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (printed += text));
    return child;
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = server;
    server = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const over = once(child, "exit");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await over;
    clearTimeout(late);
  };

  return {
    repository,
    notes,
    home: env["ROOKERY_HOME"] ?? "",
    env,
    url,
    token: TOKEN,
    printed: () => printed,
    async start() {
      server = started([CLI, "serve", "--port", String(port), "--token", TOKEN]);
      server.stdout?.setEncoding("utf8").on("data", (text: string) => (printed += text));
      await answering(url, server, () => printed);
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    async play(onPosition = () => undefined) {
      const child = started([STORY, JSON.stringify({ url, token: TOKEN, repository })]);
      const over = once(child, "exit");
      const events: { position: number; event: LogEvent }[] = [];
      const words: string[] = [];
      let seen: Seen | undefined;
      if (child.stdout === null) throw new Error("the story has no output");
      for await (const text of createInterface({ input: child.stdout })) {
        const line = JSON.parse(text) as Line;
        if ("words" in line) words.push(line.words);
        else if ("seen" in line) ({ seen } = line);
        else {
          events.push(line);
          onPosition(line.position);
        }
      }
      await over;
      if (seen === undefined) throw new Error(`the story broke off after:\n${words.join("\n")}\n${printed}`);
      return { events, seen };
    },
    async git(...args) {
      const { stdout } = await promisify(execFile)("git", args, { cwd: repository, env });
      return stdout.trimEnd();
    },
    processes: (of = () => true) => processesOf(run, of),
    async [Symbol.asyncDispose]() {
      await end("SIGKILL");
      for (const child of children) child.kill("SIGKILL");
      killLeft(run);
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function answering(url: string, server: ChildProcess, printed: () => string): Promise<void> {
  const until = performance.now() + START_MS;
  for (;;) {
    const isUp = await fetch(`${url}/v1/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    if (server.exitCode !== null) throw new Error(`rookery serve ended with ${server.exitCode}:\n${printed()}`);
    if (performance.now() > until) throw new Error(`rookery serve does not answer:\n${printed()}`);
    await sleep(10);
  }
}

/** Not one that the kernel gives to a connection while the server is away. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 10_000 + Math.floor(Math.random() * 9_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error("no port is free");
}

interface Found {
  readonly pid: number;
  readonly command: string;
  readonly owner: string | undefined;
}

/** Linux only: elsewhere nothing is found. */
function found(run: string): readonly Found[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid)) return [];
      const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      if (!variables.includes(`FLEET_RUN=${run}`)) return [];
      readlinkSync(`/proc/${pid}/exe`); // a zombie has none
      const command = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
      const owner = variables.find((variable) => variable.startsWith("ROOKERY_OWNER="))?.slice("ROOKERY_OWNER=".length);
      return [{ pid: Number(pid), command, owner }];
    } catch {
      return []; // gone meanwhile
    }
  });
}

function processesOf(run: string, of: (owner: string | undefined) => boolean): readonly string[] {
  return found(run)
    .filter(({ owner }) => of(owner))
    .map(({ command }) => command);
}

function killLeft(run: string): void {
  for (const { pid } of found(run)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it ended by itself
    }
  }
}
