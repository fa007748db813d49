/** What a command has of the outside: the environment, the working folder and the three streams. */
import { openSync } from "node:fs";
import type { Writable } from "node:stream";
import { ReadStream } from "node:tty";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { RookeryError } from "../domain/errors.ts";
import { formatOutputError } from "./errno.ts";
import { toSingleLine } from "./sanitize.ts";

export interface Io {
  readonly env: EnvironmentVariables;
  readonly version: string;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Where the person at the terminal types, also while stdin is a pipe; undefined where there is none. */
  readonly terminalInput: NodeJS.ReadableStream | undefined;
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  /** Throws `cwd_missing` where the folder was removed. */
  cwd(): string;
  /** Told when stdout takes nothing more; while nobody wants to be told, the process ends then. */
  readonly onOutputClosed: Set<() => void>;
  /** Was that a failure, and not a reader that went away? It has been said then. */
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
        const message = "the working folder was removed; change to another one, or choose it with --cwd";
        throw new RookeryError("cwd_missing", message, { cause });
      }
    },
  };
}

/** `rookery sessions events | head`: the reader has had enough, which is no mistake of anyone. A full disk is one. */
function watchOutput(): { readonly listeners: Set<() => void>; failed: boolean } {
  const output = { listeners: new Set<() => void>(), failed: false };
  let told = false;
  process.stderr.on("error", () => undefined);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (told) return; // each further write fails as well
    told = true;
    output.failed = error.code !== "EPIPE";
    if (output.failed) printNotice(process, formatOutputError(error));
    if (output.listeners.size === 0) process.exit(output.failed ? 1 : 0);
    for (const listener of output.listeners) listener();
  });
  return output;
}

/** Waits while the reader is slower than we are. */
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
  return print(io, `${jsonLine(value)}\n`);
}

/** JSON that no terminal acts on; JSON itself asks only for the escape of what is below U+0020. */
function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (unseen) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** One line for the person, beside the output; `more` is safe to show as it is. */
export function printNotice(io: Pick<Io, "stderr" | "env">, line: string, more: readonly string[] = []): void {
  io.stderr.write([`rookery: ${withCommandPrefix(io, toSingleLine(line))}`, ...more, ""].join("\n"));
}

const COMMAND =
  /(?<!npx )\brookery (?=(?:run|task|sessions|serve|usage|acp|mcp|answer|agents|trust|doctor|demo|completion|help)\b|--)/g;

/** What is to be typed, as it can be typed here: npx and `npm start` run it where the shell does not find it. */
export function withCommandPrefix({ env }: Pick<Io, "env">, text: string): string {
  const bare = env["npm_command"] !== "exec" && env["npm_lifecycle_event"] !== "start";
  return bare ? text : text.replaceAll(COMMAND, "npx rookery ");
}

/** Is someone there who can be asked? */
export function isPersonPresent({ terminalInput, stderr }: Io): boolean {
  return stderr.isTTY === true && terminalInput !== undefined;
}

function openTerminalInput(): ReadStream | "nobody" {
  if (process.stdin.isTTY) return process.stdin;
  try {
    return new ReadStream(openSync("/dev/tty", "r"));
  } catch {
    return "nobody"; // this process has no terminal
  }
}

export function hasColor({ env, stdout }: Io): boolean {
  return isInteractive(stdout, env) && (env["NO_COLOR"] ?? "") === "";
}

/** May a line be drawn over? */
export function isInteractive(stream: TerminalStream, env: EnvironmentVariables): boolean {
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
