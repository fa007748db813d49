/** Determines the version of a program from its package, the cache, or its output. */
import { realpath, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { programEnvironment } from "../../domain/child-environment.ts";
import { startAgent } from "../../programs/index.ts";
import { deadline, type EnvironmentVariables } from "../../stdx/index.ts";
import type { LocatedProgram } from "../locate.ts";
import type { VersionCache } from "./version-cache.ts";

export interface VersionOptions {
  readonly env: EnvironmentVariables;
  readonly keys?: readonly string[] | undefined;
  readonly cwd: string;
  readonly cache: VersionCache;
  /** Name of the npm package that contains the program. */
  readonly package: string;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Returns undefined if the version is unknown, or if finding it would download the program. */
export async function findVersion(
  located: LocatedProgram,
  program: string,
  options: VersionOptions,
): Promise<string | undefined> {
  // A program from the repository is not run just to find its version.
  if (located.from === "node_modules") return readPackageVersion(located.command[0] ?? "", options.package);
  const [first = "", ...rest] = located.command;
  const command = [first, ...rest.map((word) => (word.startsWith("-") ? word : resolve(options.cwd, word)))];
  if (!(await isQueryable(command, program))) return undefined;
  const stamp = await createStamp(command);
  const kept = options.cache.get(stamp);
  if (kept !== undefined) return kept;
  const version = await queryVersion(command, options);
  if (version !== undefined) options.cache.set(stamp, version);
  return version;
}

/** Compares numbers first. A pre-release sorts before the release. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [parseVersion(one), parseVersion(other)];
  for (let at = 0; at < 3; at += 1) {
    const difference = (a.numbers[at] ?? 0) - (b.numbers[at] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Number(a.word === "") - Number(b.word === "");
}

function parseVersion(version: string): { readonly numbers: readonly number[]; readonly word: string } {
  const [numbers = "", ...words] = version.split("-");
  return { numbers: numbers.split(".").map(Number), word: words.join("-") };
}

/** Whether the command is the program itself, or Node with its file. Anything else may download it. */
async function isQueryable(command: readonly string[], program: string): Promise<boolean> {
  const [first = "", second = ""] = command;
  if (command.length === 1) return basename(first).startsWith(program);
  return command.length === 2 && /^node(js)?$/.test(basename(first)) && (await isFile(second));
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

/** Changes with the command's files and their names: a shim behaves by its name. */
async function createStamp(command: readonly string[]): Promise<string> {
  const stamps = command.map(async (word) => {
    const found = await stat(word).catch(() => undefined);
    return found === undefined ? word : `${word} ${await realpath(word)} ${found.mtimeMs} ${found.size}`;
  });
  return (await Promise.all(stamps)).join(" ");
}

/** Parent folders of a program's file that are searched for its package.json. */
const MAX_FOLDERS_UP = 5;
/** A longer package.json is ignored. */
const MAX_PACKAGE_BYTES = 1024 * 1024;

async function readPackageVersion(path: string, name: string): Promise<string | undefined> {
  let folder = dirname(await realpath(path).catch(() => path));
  for (let up = 0; up < MAX_FOLDERS_UP; up += 1, folder = dirname(folder)) {
    const written = parsePackage(await readSmallText(join(folder, "package.json")));
    if (written.name === name && typeof written.version === "string") return VERSION.exec(written.version)?.[0];
  }
  return undefined;
}

/** Returns an empty string for anything but a small regular file: a repository may contain an endless device. */
async function readSmallText(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_PACKAGE_BYTES) return "";
  return readFile(path, "utf8").catch(() => "");
}

function parsePackage(text: string): { readonly name?: unknown; readonly version?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

const VERSION = /(?<!\d)\d+\.\d+\.\d+(?:-[\w.]+)?/;
/** Lines of output that are searched for a version. */
const MAX_LINES = 50;
/** Disables updates and network traffic while the program prints its version. */
const QUIET = {
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  GEMINI_CLI_NO_RELAUNCH: "true",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
};

async function queryVersion(
  command: readonly string[],
  { env, keys, deadlineMs, signal }: VersionOptions,
): Promise<string | undefined> {
  if (signal?.aborted === true) return undefined;
  const late = signal === undefined ? deadline(deadlineMs) : deadline(deadlineMs, signal);
  try {
    const quiet = { ...programEnvironment(env, { keys }), ...QUIET };
    await using program = await startAgent({
      command: [...command, "--version"],
      cwd: "/", // some programs act on the files of a repository at startup
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
          if (version !== undefined || lines > MAX_LINES) resolve();
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
    return undefined; // a program that does not start has no version
  } finally {
    late[Symbol.dispose]();
  }
}
