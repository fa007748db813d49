/** For tests: the command in a temporary home and repository, in this process or built and started as users start it. */
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { closeSync, linkSync, mkdirSync, openSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { SessionEvent } from "../domain/events.ts";
import { DisposeStack } from "../stdx/dispose-stack.ts";
import {
  builtEnvironment,
  type ModelServer,
  type ModelServerOptions,
  type Script,
  startModelServer,
  temporaryFolder,
  type TemporaryRepository,
  temporaryRepository,
} from "../testing/index.ts";
import { type ProgramScreen, startOnScreen } from "../../test/support/screen.ts";
import { PROGRAM } from "./commands.ts";
import { runInProcess } from "./test-in-process.ts";

export const BUILT_COMMAND = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));

/** Written by scripts/warm-code-cache.mjs before the tests run. */
const CODE_CACHE = fileURLToPath(
  new URL(`../../node_modules/.rookery-code-cache/${process.version}.v8`, import.meta.url),
);

export interface CommandFixture extends AsyncDisposable {
  readonly home: string;
  readonly repository: TemporaryRepository;
  readonly server: ModelServer;
  /** Contains a fake key and the URL of the model server. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs the command in this process, because a start of Node takes 200 ms; with `uid` or `stdout`, in its own. */
  rookery(args: readonly string[], options?: SpawnOptions): Promise<CommandResult>;
  /** Runs the built command. */
  start(args: readonly string[], options?: SpawnOptions): RunningCommand;
  /** Runs the command on a pseudo-terminal. Writes to the child's stdin are keystrokes. */
  terminal(args: readonly string[], options?: SpawnOptions): RunningCommand;
  /** Runs the built command on a pseudo-terminal whose screen is rendered. */
  screen(args: readonly string[], options?: ScreenSize & Pick<SpawnOptions, "cwd" | "env">): ProgramScreen;
}

export interface ScreenSize {
  readonly columns?: number;
  readonly rows?: number;
}

export interface SpawnOptions {
  readonly cwd?: string;
  /** Added to the environment of the fixture. Undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
  readonly uid?: number;
  /** A file for the output. */
  readonly stdout?: string;
}

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<CommandResult>;
  /** Resolves when stdout or stderr matches. Rejects if the command ends first. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Node has no pseudo-terminals, so Python starts the command on one. */
const PTY_LAUNCHER = "import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
export const hasPseudoTerminals = spawnSync("python3", ["-c", "import pty"]).status === 0;

export const FAKE_KEY = "sk-scripted-key-that-nobody-may-see";

export interface CommandFixtureOptions extends ModelServerOptions {
  readonly files?: Record<string, string>;
  /** The first start puts a code cache into the home, which halves its time. Creates `.rookery`. Default: true. */
  readonly codeCache?: boolean;
}

export async function openCommandFixture(
  script: Script = [],
  { files = {}, codeCache = true, ...options }: CommandFixtureOptions = {},
): Promise<CommandFixture> {
  await using opening = new DisposeStack();
  const { path: home } = opening.use(await temporaryFolder());
  const repository = opening.use(await temporaryRepository(files));
  const server = opening.use(await startModelServer(script, { requireKey: FAKE_KEY, ...options }));
  const extra = { ANTHROPIC_API_KEY: FAKE_KEY, ANTHROPIC_BASE_URL: server.url };
  const env = builtEnvironment({ home, extra });
  const around = (more: SpawnOptions) => ({ ...more, cwd: more.cwd ?? repository.path, env: { ...env, ...more.env } });
  const children = new Set<RunningCommand>();
  const screens = new Set<ProgramScreen>();
  const started = (words: readonly string[], more: SpawnOptions): RunningCommand => {
    if (codeCache) linkCodeCache(join(home, ".rookery"));
    const child = startChild(words, around(more));
    children.add(child);
    return child;
  };
  const start = (args: readonly string[], more: SpawnOptions = {}): RunningCommand => {
    const child = started([process.execPath, BUILT_COMMAND, ...args], more);
    child.child.stdin.end(more.input ?? "");
    return child;
  };
  const screen: CommandFixture["screen"] = (args, { columns, rows, ...more } = {}) => {
    if (codeCache) linkCodeCache(join(home, ".rookery"));
    const size = { ...(columns !== undefined && { columns }), ...(rows !== undefined && { rows }) };
    const { cwd, env: given } = around({ ...more, env: { TERM: "xterm-256color", ...more.env } });
    const started = startOnScreen([process.execPath, BUILT_COMMAND, ...args], { cwd, env: given, ...size });
    screens.add(started);
    return started;
  };
  opening.defer(() => endChildren(children)); // a failed test may leave some
  opening.defer(async () => {
    for (const started of screens) await started[Symbol.asyncDispose]();
  });
  const owned = opening.move();
  return {
    home,
    repository,
    server,
    env,
    start,
    screen,
    terminal: (args, more = {}) =>
      started(["python3", "-c", PTY_LAUNCHER, process.execPath, BUILT_COMMAND, ...args], more),
    rookery: (args, more = {}) =>
      more.uid === undefined && more.stdout === undefined ? runInProcess(args, around(more)) : start(args, more).ended,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Lets the built command start from compiled code. Does nothing if `home` cannot have a cache, or has one. */
export function linkCodeCache(home: string): void {
  const folder = join(home, "cache");
  try {
    mkdirSync(home, { mode: 0o700, recursive: true });
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    return; // a test made it unwritable, or another start has linked the cache
  }
  for (const name of ["other", "welcome", ...(PROGRAM.commands ?? []).map((command) => command.name)]) {
    const file = join(folder, `${name}.v8`);
    try {
      linkSync(CODE_CACHE, file);
    } catch {
      symlinkSync(CODE_CACHE, file); // the temporary folder is on another file system
    }
  }
}

export function parseEventLines(stdout: string): SessionEvent[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as SessionEvent);
}

/** Programs on a pseudo-terminal end with it. */
async function endChildren(children: Iterable<RunningCommand>): Promise<void> {
  for (const { child, ended } of children) {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await ended.catch(() => undefined);
  }
}

function startChild(
  [program = "", ...args]: readonly string[],
  { cwd, env, uid, stdout }: SpawnOptions,
): RunningCommand {
  const to = stdout === undefined ? undefined : openSync(stdout, "w");
  const child = spawn(program, args, {
    cwd,
    env: { ...env },
    stdio: ["pipe", to ?? "pipe", "pipe"],
    ...(uid !== undefined && { uid }),
  }) as ChildProcessByStdio<Writable, Readable, Readable>;
  if (to !== undefined) closeSync(to);
  const output = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    (child[name] as Readable | null)?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      for (const listener of listeners) listener();
    });
  }
  child.stdin.on("error", () => undefined); // the command may ignore its input
  const ended = new Promise<CommandResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...output }));
  });
  const said = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(output.stdout) ?? pattern.exec(output.stderr);
      if (match !== null) return match;
      let listener = (): void => undefined;
      const more = new Promise<"more">((resolve) => (listener = () => resolve("more")));
      listeners.add(listener);
      const what = await Promise.race([more, ended.then(() => "ended" as const)]);
      listeners.delete(listener);
      if (what === "ended" && !pattern.test(output.stdout) && !pattern.test(output.stderr)) {
        throw new Error(`rookery ended without saying ${String(pattern)}: ${JSON.stringify(output)}`);
      }
    }
  };
  return { child, ended, waitForOutput: said };
}
