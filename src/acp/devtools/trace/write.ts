/** Writes the traffic of a connection to a file, one JSON object per line, without blocking the connection. */
import { closeSync, createWriteStream, fchmodSync, fstatSync, openSync } from "node:fs";
import type { Writable } from "node:stream";
import { deferred, systemClock, type Clock } from "../../../stdx/index.ts";

export interface Trace extends AsyncDisposable {
  /** Pass it as `ConnectionOptions.trace`. Never waits and never throws. */
  (direction: "in" | "out", line: string): void;
  /** Resolves when everything is written. Rejects if that failed. A stream that was passed in stays open. */
  close(): Promise<void>;
}

export interface TraceOptions {
  readonly clock?: Clock | undefined;
  /** How much may wait for the disk. Above it messages are skipped, and the trace records how many. Default: 16 MiB. */
  readonly maxWaitingBytes?: number | undefined;
}

const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * Creates the file with access for its owner only, because prompts and keys may appear in it. Appends to an existing
 * file.
 */
export function traceTo(target: Writable | string, options: TraceOptions = {}): Trace {
  const { clock = systemClock, maxWaitingBytes = MAX_WAITING_BYTES } = options;
  const stream = typeof target === "string" ? openFile(target) : target;
  let dropped = 0;
  let failure: Error | undefined;
  const failed = (error: Error): void => {
    failure ??= error;
  };
  stream.on("error", failed);

  const at = (): string => new Date(clock.now()).toISOString();
  const tellDropped = (): void => {
    if (dropped > 0) stream.write(`{"at":"${at()}","dropped":${dropped}}\n`);
    dropped = 0;
  };
  const trace = (direction: "in" | "out", line: string): void => {
    if (failure !== undefined || closing !== undefined) return;
    if (stream.writableLength > maxWaitingBytes) {
      dropped += 1;
      return;
    }
    tellDropped();
    const what = isJsonText(line) ? `"message":${line}` : `"line":${JSON.stringify(line)}`;
    stream.write(`{"at":"${at()}","direction":"${direction}",${what}}\n`);
  };

  let closing: Promise<void> | undefined;
  const finish = async (): Promise<void> => {
    const written = deferred();
    stream.once("close", () => written.resolve());
    if (failure !== undefined || stream.destroyed) written.resolve();
    else {
      tellDropped();
      if (stream === target) stream.write("", () => written.resolve());
      else stream.end();
    }
    await written.promise;
    stream.off("error", failed);
    if (failure !== undefined) throw new Error(`the trace is incomplete: ${failure.message}`, { cause: failure });
  };
  const close = (): Promise<void> => (closing ??= finish());
  return Object.assign(trace, { close, [Symbol.asyncDispose]: close });
}

function openFile(path: string): Writable {
  const fd = openSync(path, "a", 0o600);
  try {
    if (fstatSync(fd).isFile()) fchmodSync(fd, 0o600);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return createWriteStream(path, { fd });
}

function isJsonText(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
