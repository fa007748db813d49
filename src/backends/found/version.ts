/** Which version a program has: written beside it, remembered, or asked of it. */
import { realpath, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { childEnvironment } from "../../domain/child-environment.ts";
import { startAgent } from "../../programs/index.ts";
import { deadline, type EnvironmentVariables } from "../../stdx/index.ts";
import type { Located } from "../locate.ts";
import type { VersionCache } from "./cache.ts";

export interface AskOptions {
  readonly env: EnvironmentVariables;
  readonly keys?: readonly string[] | undefined;
  readonly cwd: string;
  readonly cache: VersionCache;
  /** What the package is called that brings the program. */
  readonly package: string;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Undefined where it cannot be known, or would have to be downloaded to be known. */
export async function versionOf(located: Located, program: string, options: AskOptions): Promise<string | undefined> {
  // What a repository brings is not run to find out what it is.
  if (located.from === "node_modules") return writtenVersion(located.command[0] ?? "", options.package);
  const [first = "", ...rest] = located.command;
  const command = [first, ...rest.map((word) => (word.startsWith("-") ? word : resolve(options.cwd, word)))];
  if (!(await isAskable(command, program))) return undefined;
  const stamp = await stampOf(command);
  const kept = options.cache.get(stamp);
  if (kept !== undefined) return kept;
  const version = await asked(command, options);
  if (version !== undefined) options.cache.set(stamp, version);
  return version;
}

/** The numbers count first; of two that are the same, one with a word behind it came before. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [partsOf(one), partsOf(other)];
  for (let at = 0; at < 3; at += 1) {
    const difference = (a.numbers[at] ?? 0) - (b.numbers[at] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Number(a.word === "") - Number(b.word === "");
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly word: string } {
  const [numbers = "", ...words] = version.split("-");
  return { numbers: numbers.split(".").map(Number), word: words.join("-") };
}

/** The program itself, or Node with its file; anything else may be what downloads it. */
async function isAskable(command: readonly string[], program: string): Promise<boolean> {
  const [first = "", second = ""] = command;
  if (command.length === 1) return basename(first).startsWith(program);
  return command.length === 2 && /^node(js)?$/.test(basename(first)) && (await isFile(second));
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

/** Another after each change of the files that the command names, and for each name of one: a shim goes by that. */
async function stampOf(command: readonly string[]): Promise<string> {
  const stamps = command.map(async (word) => {
    const found = await stat(word).catch(() => undefined);
    return found === undefined ? word : `${word} ${await realpath(word)} ${found.mtimeMs} ${found.size}`;
  });
  return (await Promise.all(stamps)).join(" ");
}

/** How far above a program's file the description of its package is looked for. */
const FOLDERS_UP = 5;
/** A longer description is none. */
const DESCRIPTION_BYTES = 1024 * 1024;

async function writtenVersion(path: string, name: string): Promise<string | undefined> {
  let folder = dirname(await realpath(path).catch(() => path));
  for (let up = 0; up < FOLDERS_UP; up += 1, folder = dirname(folder)) {
    const written = described(await smallText(join(folder, "package.json")));
    if (written.name === name && typeof written.version === "string") return VERSION.exec(written.version)?.[0];
  }
  return undefined;
}

/** Empty where it is no file: whoever wrote the folder may have put there what is never read to its end. */
async function smallText(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size > DESCRIPTION_BYTES) return "";
  return readFile(path, "utf8").catch(() => "");
}

function described(text: string): { readonly name?: unknown; readonly version?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

const VERSION = /(?<!\d)\d+\.\d+\.\d+(?:-[\w.]+)?/;
/** How much of what it prints is looked at. */
const LINES = 50;
/** It is to say its version, and do nothing else. */
const QUIET = {
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  GEMINI_CLI_NO_RELAUNCH: "true",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
};

async function asked(
  command: readonly string[],
  { env, keys, deadlineMs, signal }: AskOptions,
): Promise<string | undefined> {
  if (signal?.aborted === true) return undefined;
  const late = signal === undefined ? deadline(deadlineMs) : deadline(deadlineMs, signal);
  try {
    const quiet = { ...childEnvironment(env, { keys }), ...QUIET };
    await using program = await startAgent({
      command: [...command, "--version"],
      cwd: "/", // in a repository some take orders from its files before they say anything
      env: quiet,
      maxMessageBytes: 4096,
    });
    const stop = (): void => void program.close({ eofMs: 0, termMs: 200 });
    late.signal.addEventListener("abort", stop, { once: true });
    if (late.signal.aborted) stop();
    let lines = 0;
    let version: string | undefined;
    await new Promise<void>((resolve) => {
      program.transport.start({
        line: (line) => {
          lines += 1;
          version ??= VERSION.exec(line.slice(0, 1_000))?.[0];
          if (version !== undefined || lines > LINES) resolve();
        },
        oversize: () => undefined,
        drained: () => undefined,
        writeFailed: () => undefined,
        ended: () => resolve(),
      });
      void program.transport.end();
    });
    await program.close({ eofMs: version === undefined ? 0 : 200, termMs: 200 });
    return version;
  } catch {
    return undefined; // one that cannot be started has no version, and the list says so
  } finally {
    late[Symbol.dispose]();
  }
}
