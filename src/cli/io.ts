/** What a command has of the outside: the environment, the working folder and the three streams. */
import type { Writable } from "node:stream";
import type { Env } from "../config/home.ts";
import { RookeryError } from "../domain/errors.ts";

export interface Io {
  readonly env: Env;
  readonly version: string;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Throws `cwd_missing` where the folder was removed. */
  cwd(): string;
  /** Told when the reader of stdout went away; while nobody wants to be told, the process ends then. */
  readonly readerGone: Set<() => void>;
}

export type Output = Writable & { readonly isTTY?: boolean };

export function processIo(version: string): Io {
  return {
    readerGone: endWithReader(),
    env: process.env,
    version,
    stdin: process.stdin,
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

/** `rookery sessions events | head`: the reader has had enough, which is no mistake of anyone. */
function endWithReader(): Set<() => void> {
  const listeners = new Set<() => void>();
  let told = false;
  process.stderr.on("error", () => undefined);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (told) return; // each further write fails as well
    if (listeners.size === 0) process.exit(0);
    told = true;
    for (const listener of listeners) listener();
  });
  return listeners;
}

/** Waits while the reader is slower than we are. */
export async function print({ stdout }: Io, text: string): Promise<void> {
  if (text === "" || stdout.destroyed || stdout.write(text)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      stdout.off("drain", done).off("close", done).off("error", done);
      resolve();
    };
    stdout.on("drain", done).on("close", done).on("error", done);
  });
}

export function printJson(io: Io, value: unknown): Promise<void> {
  return print(io, `${JSON.stringify(value)}\n`);
}

/** One line for the person, beside the output. */
export function say({ stderr }: Io, line: string): void {
  stderr.write(`rookery: ${line}\n`);
}

/** Is someone there who can be asked? */
export function isAttended({ stdin, stderr }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

export function hasColour({ env, stdout }: Io): boolean {
  return isLively(stdout, env) && (env["NO_COLOR"] ?? "") === "";
}

/** May a line be drawn over? */
export function isLively(stream: Output, env: Env): boolean {
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
