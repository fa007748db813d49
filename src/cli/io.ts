/** The environment, working directory and streams of a command, so that tests can replace them. */
import { existsSync, openSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Writable } from "node:stream";
import { ReadStream } from "node:tty";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { RookeryError } from "../domain/errors.ts";
import { COMMAND_NAMES } from "./command-names.ts";
import { formatOutputError } from "./errno.ts";
import { toSingleLine } from "./sanitize.ts";
import { wrapText } from "./wrap.ts";

export interface Io {
  readonly env: EnvironmentVariables;
  readonly version: string;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Input of the terminal, even if stdin is a pipe. Undefined without a terminal. */
  readonly terminalInput: NodeJS.ReadableStream | undefined;
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  /** Throws `cwd_missing` if the directory was deleted. */
  cwd(): string;
  /** Listeners for the loss of stdout. Without a listener, the process exits when stdout is lost. */
  readonly onOutputClosed: Set<() => void>;
  /** True if stdout failed for a reason other than a closed pipe. The error was already printed. */
  outputFailed(): boolean;
}

export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

export function processIo(version: string): Io {
  const output = watchOutput();
  let input: ReadStream | "nobody" | undefined;
  return {
    onOutputClosed: output.listeners,
    outputFailed: () => output.failed,
    env: process.env,
    version,
    stdin: process.stdin,
    get terminalInput() {
      input ??= openTerminalInput();
      return input === "nobody" ? undefined : input;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    cwd() {
      try {
        return process.cwd();
      } catch (cause) {
        const message = "the working directory was deleted; change to another one, or choose one with --cwd";
        throw new RookeryError("cwd_missing", message, { cause });
      }
    },
  };
}

/** A closed pipe, as in `rookery sessions events | head`, is not an error. A full disk is one. */
function watchOutput(): { readonly listeners: Set<() => void>; failed: boolean } {
  const output = { listeners: new Set<() => void>(), failed: false };
  let isReported = false;
  process.stderr.on("error", () => undefined);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isReported) return; // every later write fails too
    isReported = true;
    output.failed = error.code !== "EPIPE";
    if (output.failed) printNotice(process, formatOutputError(error));
    if (output.listeners.size === 0) process.exit(output.failed ? 1 : 0);
    for (const listener of output.listeners) listener();
  });
  return output;
}

/** Writes to stdout and waits until the reader catches up. */
export async function print({ stdout }: Io, text: string): Promise<void> {
  if (text === "" || stdout.destroyed || stdout.errored !== null || stdout.write(text)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      stdout.off("drain", done).off("close", done).off("error", done);
      resolve();
    };
    stdout.on("drain", done).on("close", done).on("error", done);
  });
}

export function printJson(io: Io, value: unknown): Promise<void> {
  return print(io, `${formatJsonLine(value)}\n`);
}

/** Escapes control characters that JSON allows but terminals interpret. */
export function formatJsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (unseen) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Like `print`, wrapped for a terminal, and with `npx` before commands if needed. `indent`: see `wrapText`. */
export function printText(io: Io, text: string, indent?: string): Promise<void> {
  return print(
    io,
    wrapText(withCommandPrefix(io, text), { width: terminalWidth(io.stdout), ...(indent && { indent }) }),
  );
}

/** Returns the columns of a terminal, or undefined for a pipe or a file. Default: 80, for terminals that report 0. */
export function terminalWidth({ isTTY, columns = 0 }: TerminalStream): number | undefined {
  if (isTTY !== true) return undefined;
  return columns > 0 ? columns : 80;
}

/**
 * Prints one line on stderr, wrapped on a terminal. `more` holds further lines that are already safe for a terminal.
 */
export function printNotice(io: Pick<Io, "stderr" | "env">, line: string, more: readonly string[] = []): void {
  const text = `rookery: ${withCommandPrefix(io, toSingleLine(line))}`;
  io.stderr.write([wrapText(text, { width: terminalWidth(io.stderr) }), ...more, ""].join("\n"));
}

/**
 * `rookery` followed by a word, an option or a quoted prompt, or alone on a line, in text that may already say `npx
 * rookery`.
 */
const COMMAND = /(?<!npx )\brookery (?:(?=[-"])|(?=([a-z]+)\b))|(?<=^ {2})rookery$/gm;
const TYPED_NAMES: ReadonlySet<string> = new Set([...COMMAND_NAMES, "help"]);

/**
 * Writes `npx rookery` instead of `rookery` before commands if npx or npm started this process and the shell does not
 * find `rookery`.
 */
export function withCommandPrefix({ env }: Pick<Io, "env">, text: string): string {
  if (!needsNpx(env)) return text;
  return text.replaceAll(COMMAND, (match, name: string | undefined) =>
    name === undefined || TYPED_NAMES.has(name) ? `npx ${match}` : match,
  );
}

/** True if `rookery` exists only in the folder of the package, where npx or npm found it. */
export function needsNpx(env: EnvironmentVariables): boolean {
  if (env["npm_command"] !== "exec" && env["npm_lifecycle_event"] !== "start") return false;
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return !folders.some((folder) => !folder.includes("node_modules") && existsSync(join(folder, "rookery")));
}

/** True if a person can answer questions at the terminal. */
export function isPersonPresent({ terminalInput, stderr }: Io): boolean {
  return stderr.isTTY === true && terminalInput !== undefined;
}

/** True if a person types and reads at the same terminal. */
export function canChat({ stdin, stdout }: Io): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}

function openTerminalInput(): ReadStream | "nobody" {
  if (process.stdin.isTTY) return process.stdin;
  try {
    return new ReadStream(openSync("/dev/tty", "r"));
  } catch {
    return "nobody"; // this process has no terminal
  }
}

export function hasColor({ env, stdout }: Pick<Io, "env" | "stdout">): boolean {
  return isInteractive(stdout, env) && (env["NO_COLOR"] ?? "") === "";
}

/** True if lines on this stream can be redrawn. */
export function isInteractive(stream: TerminalStream, env: EnvironmentVariables): boolean {
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
