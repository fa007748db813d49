/** The scene of `examples/fleet`: the sample, a server that can be killed and comes back, and the story as another process. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { CollectReport, LogEvent, TaskView } from "../domain/index.ts";
import { killAllWith, processesWith, type Found } from "./test-processes.ts";
import { CLI, fleetServer, type FleetServer } from "./test-server.ts";
import { builtEnvironment, temporaryFolder } from "../testing/index.ts";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const STORY = path("test-story.mjs");

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

export interface Happened {
  readonly position: number;
  readonly event: LogEvent;
}

export interface Told {
  readonly events: readonly Happened[];
  readonly seen: Seen;
}

type Line = { readonly words: string } | Happened | { readonly seen: Seen };

export interface Fleet extends Omit<FleetServer, "url" | "token"> {
  readonly repository: string;
  readonly notes: string;
  /** Of Rookery. */
  readonly home: string;
  readonly play: (onEvent?: (happened: Happened) => void) => Promise<Told>;
  readonly git: (...args: string[]) => Promise<string>;
  /** Whatever runs because of this scene. */
  readonly processes: () => readonly Found[];
}

let opened = 0;

export async function openFleet(): Promise<Fleet> {
  const folder = await temporaryFolder();
  const run = `${process.pid}-${(opened += 1)}`;
  const env = builtEnvironment({ home: join(folder.path, "home"), extra: { FLEET_RUN: run } });
  const { makeSample } = (await import(path("../../examples/fleet/sample.mjs"))) as {
    makeSample: (folder: string, env: object) => { repository: string; notes: string };
  };
  const { repository, notes } = makeSample(folder.path, env);
  await promisify(execFile)(process.execPath, [CLI, "trust", repository], { env });
  const server = await fleetServer({ cwd: folder.path, env });
  const { url, token } = server;
  return {
    ...server,
    repository,
    notes,
    home: env["ROOKERY_HOME"] ?? "",
    play: (onEvent = () => undefined) =>
      play({ given: { url, token, repository }, env, onEvent }).catch((cause: unknown) => {
        throw new Error(`${String(cause)}\n${server.printed()}`, { cause });
      }),
    async git(...args) {
      const { stdout } = await promisify(execFile)("git", args, { cwd: repository, env });
      return stdout.trimEnd();
    },
    processes: () => processesWith(`FLEET_RUN=${run}`),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      killAllWith(`FLEET_RUN=${run}`);
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Rejects where the story did. */
async function play(options: {
  readonly given: object;
  readonly env: Readonly<Record<string, string>>;
  readonly onEvent: (happened: Happened) => void;
}): Promise<Told> {
  const { given, env, onEvent } = options;
  const child = spawn(process.execPath, [STORY, JSON.stringify(given)], { env, stdio: ["ignore", "pipe", "pipe"] });
  const over = once(child, "exit");
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const events: Happened[] = [];
  const words: string[] = [];
  let seen: Seen | undefined;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line;
    if ("words" in line) words.push(line.words);
    else if ("seen" in line) ({ seen } = line);
    else {
      events.push(line);
      onEvent(line);
    }
  }
  await over;
  if (seen === undefined) throw new Error(`the story broke off after:\n${words.join("\n")}\n${complaint}`);
  return { events, seen };
}
