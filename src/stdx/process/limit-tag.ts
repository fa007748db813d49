/**
 * A tag that descendants of a child cannot lose: a number in their limit of file locks. Linux has not enforced that
 * limit since 2.4.25, every process inherits it, and only a privileged process can raise a hard limit again. It finds
 * daemons that overwrite their environment (`setproctitle`), clear it, or make it unreadable. Only on Linux.
 *
 * The soft limit has the tag of the innermost owner. The hard limit has the tag of the outermost one, with bit 62 set:
 * a Rookery that runs as a child of another changes only the soft limit, so both find what it starts.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import type { EnvironmentVariables } from "../environment.ts";
import { isProgramFile } from "./program-file.ts";

const FIELD_BITS = 31n;
const FIELD_MASK = (1n << FIELD_BITS) - 1n;
const HARD_BIT = 1n << 62n;

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Returns the command that starts the same program through a shell that sets its limit, or through `prlimit` if the
 * shell would drop or change a variable. Returns the line unchanged if that cannot work: the program is missing (the
 * system reports why), the shell would drop a variable and there is no `prlimit`, or the limit is already in use.
 * `markers` are those of the child, the owner's first and its own last.
 */
export function taggedCommand(
  line: CommandLine,
  markers: string,
  { cwd, env }: { cwd: string; env: EnvironmentVariables },
) {
  const limit = ownHardLimit();
  if (limit === undefined || !isProgramFile(line.command, cwd, env)) return line;
  const tag = tagOf(markers);
  const hard = limit === "unlimited" ? tag | HARD_BIT : undefined;
  const names = Object.keys(env).filter((name) => env[name] !== undefined);
  const isDropped = names.some((name) => !SHELL_NAME.test(name));
  if (isDropped || names.some((name) => SHELL_VARIABLES.has(name))) {
    const program = findPrlimit();
    if (program !== undefined) {
      return { command: program, args: [`--locks=${tag}:${hard ?? ""}`, "--", line.command, ...line.args] };
    }
    if (isDropped && !isShellBash()) return line;
  }
  const lines = [limitScript(tag, hard)];
  for (const name of ["PWD", "SHLVL"]) if (env[name] === undefined) lines.push(`unset ${name}`);
  lines.push('exec "$@"');
  return { command: SHELL, args: ["-c", lines.join("\n"), "sh", line.command, ...line.args] };
}

/** Whether the process has the tag of all these markers. False if its limits cannot be read. */
export function hasTag(pid: number, markers: string): boolean {
  try {
    return limitsCarry(readFileSync(`/proc/${pid}/limits`, "latin1"), markers);
  } catch {
    return false; // it has ended, or the system has no such file
  }
}

const SHELL = "/bin/sh";

/** `-w` in dash and ash, `-x` in bash, ksh and zsh. A shell that knows neither starts the program without a tag. */
function limitScript(soft: bigint, hard: bigint | undefined): string {
  const set = (option: string): string =>
    [`ulimit -S -${option} ${soft}`, ...(hard === undefined ? [] : [`ulimit -H -${option} ${hard}`])].join(" && ");
  return `{ ${set("w")} || { ${set("x")}; }; } 2>/dev/null`;
}

/** 31 bits of the owner, then 31 bits of the child itself. */
function tagOf(markers: string): bigint {
  const list = markers.split(",");
  return (fieldOf(list[0] ?? "") << FIELD_BITS) | fieldOf(list.at(-1) ?? "");
}

/** Never 0. */
function fieldOf(marker: string): bigint {
  return (BigInt(createHash("sha256").update(marker).digest().readUInt32BE(0)) & FIELD_MASK) | 1n;
}

function limitsCarry(limits: string, markers: string): boolean {
  const [, soft = "", hard = ""] = /^Max file locks\s+(\S+)\s+(\S+)/m.exec(limits) ?? [];
  if (soft === "" || (soft === "unlimited" && hard === "unlimited")) return false;
  const numbers = [soft, hard].filter((text) => /^\d+$/.test(text)).map((text) => BigInt(text) & ~HARD_BIT);
  if (markers.includes(",")) return numbers.includes(tagOf(markers));
  const field = fieldOf(markers);
  return numbers.some((number) => number >> FIELD_BITS === field || (number & FIELD_MASK) === field);
}

let hardLimit: "unlimited" | "tagged" | undefined;
let isRead = false;

/** Undefined if no tag can be set: another system, or an administrator's own limit. */
function ownHardLimit(): typeof hardLimit {
  if (isRead) return hardLimit;
  isRead = true;
  if (process.platform !== "linux") return undefined;
  try {
    const [, hard = ""] = /^Max file locks\s+\S+\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
    if (hard === "unlimited") hardLimit = "unlimited";
    else if (/^\d+$/.test(hard) && BigInt(hard) >= HARD_BIT) hardLimit = "tagged";
  } catch {
    // no such file: untagged
  }
  return hardLimit;
}

const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables whose values a shell replaces. It exports them if they were in its environment. */
const SHELL_VARIABLES: ReadonlySet<string> = new Set(["IFS", "OPTIND", "PPID", "BASHOPTS", "SHELLOPTS"]);

let isBash: boolean | undefined;

/** Shells other than bash drop variables with names that are invalid in a shell, such as exported bash functions. */
function isShellBash(): boolean {
  isBash ??= realPath(SHELL).endsWith("/bash");
  return isBash;
}

/** Part of util-linux. It does not change the environment, but unlike a shell it is not on every system. */
const PRLIMIT_PATHS = ["/usr/bin/prlimit", "/bin/prlimit"];
let prlimit: string | undefined;
let isSearched = false;

/** Tests `prlimit` once: without permission to set the limit, it does not start the program. */
function findPrlimit(): string | undefined {
  if (isSearched) return prlimit;
  isSearched = true;
  const works = (path: string): boolean =>
    spawnSync(path, ["--locks=1:", "--", path, "--version"], { env: {}, timeout: 5_000 }).status === 0;
  prlimit = PRLIMIT_PATHS.find((path) => existsSync(path) && works(path));
  return prlimit;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
