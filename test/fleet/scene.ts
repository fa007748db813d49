/** Sets up `examples/fleet`: the sample repository, a server that can be killed and restarted, and the story in another process. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { CollectReport, LogEvent, TaskView } from "../../src/domain/index.ts";
import { killAllWith, processesWith, type FoundProcess } from "./processes.ts";
import { CLI, fleetServer, type FleetServer } from "./server.ts";
import { builtEnvironment, temporaryFolder } from "../../src/testing/index.ts";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const STORY = path("story.mjs");

/** The result that the story reports. */
export interface StoryReport {
  readonly stopped: TaskView;
  readonly resumed: TaskView;
  readonly refused: NonNullable<TaskView["merge"]>;
  readonly nothing: NonNullable<TaskView["merge"]>;
  readonly promised: CollectReport;
  readonly collected: CollectReport;
  readonly views: readonly TaskView[];
}

export interface FeedItem {
  readonly position: number;
  readonly event: LogEvent;
}

export interface StoryOutcome {
  readonly events: readonly FeedItem[];
  readonly seen: StoryReport;
}

type Line = { readonly words: string } | FeedItem | { readonly seen: StoryReport };

export interface Fleet extends Omit<FleetServer, "url" | "token"> {
  readonly address: Pick<FleetServer, "url" | "token">;
  readonly repository: string;
  readonly notes: string;
  /** Rookery's home. */
  readonly home: string;
  readonly play: (onEvent?: (happened: FeedItem) => void) => Promise<StoryOutcome>;
  readonly git: (...args: string[]) => Promise<string>;
  /** Returns all running processes of this scene. */
  readonly processes: () => readonly FoundProcess[];
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
    address: { url, token },
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

/** Plays the story in another process. Rejects if the story fails. */
export async function play(options: {
  readonly given: { readonly url: string; readonly token: string; readonly repository: string };
  readonly env: Readonly<Record<string, string>>;
  readonly onEvent: (happened: FeedItem) => void;
  /** Starts the process elsewhere. */
  readonly command?: (program: string, args: readonly string[]) => [string, string[]];
}): Promise<StoryOutcome> {
  const { given, env, onEvent, command = (program, args) => [program, [...args]] } = options;
  const [program, args] = command(process.execPath, [STORY, JSON.stringify(given)]);
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const over = once(child, "exit");
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const events: FeedItem[] = [];
  const words: string[] = [];
  let seen: StoryReport | undefined;
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
  if (seen === undefined) throw new Error(`the story failed after:\n${words.join("\n")}\n${complaint}`);
  return { events, seen };
}
