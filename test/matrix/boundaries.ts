/** The named boundaries that a process crosses. The process can kill itself at one of them. */
import { writeSync } from "node:fs";
import type { Store } from "../../src/domain/index.ts";

export interface BoundaryOptions {
  /** Whether to report every boundary. Default: false. */
  readonly record?: boolean | undefined;
  /** Kills the process at the boundary with this name or number. */
  readonly killAt?: string | number | undefined;
}

/** A message of the child process, one JSON object per line. */
export type ChildMessage =
  | { readonly reached: string }
  | { readonly killed: string }
  | { readonly session: string }
  | { readonly settled: Readonly<Record<string, number>> };

let boundaryOptions: BoundaryOptions = {};
let reached = 0;
const counts = new Map<string, number>();

export function setBoundaryOptions(given: BoundaryOptions): void {
  boundaryOptions = given;
}

/** Kills the process if this is its kill boundary. Nothing after this call happens then. */
export function reach(name: string): void {
  reached += 1;
  if (boundaryOptions.record === true) say({ reached: name });
  if (boundaryOptions.killAt !== name && boundaryOptions.killAt !== reached) return;
  say({ killed: name });
  process.kill(process.pid, "SIGKILL");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // blocks until the signal arrives
}

/** Appends a counter, because the same operation happens several times. */
export function numberOperation(what: string): string {
  const count = (counts.get(what) ?? 0) + 1;
  counts.set(what, count);
  return `${what}#${count}`;
}

/** Writes synchronously, so that a SIGKILL right after it loses nothing. */
export function say(message: ChildMessage): void {
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let written = 0; written < line.length;) {
    try {
      written += writeSync(1, line, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}

/** Wraps a store with a boundary before and after every method. */
export function withBoundaries(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      const what = `store ${typeof name === "symbol" ? "close" : name}`;
      return (...args: unknown[]): unknown => {
        const its = numberOperation(what);
        reach(`${its} before`);
        const given: unknown = Reflect.apply(value, target, args);
        if (given instanceof Promise) return given.finally(() => reach(`${its} after`));
        return isIterable(given) ? yieldWithBoundaries(its, given) : given;
      };
    },
  });
}

/** Wraps `fetch` with boundaries at the request, the response, and the first and last byte. */
export function fetchWithBoundaries(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const its = numberOperation("provider request");
    reach(`${its} before`);
    const response = await fetch(input, init);
    reach(`${its} answered`);
    let isFirst = true;
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, to) {
        if (isFirst) reach(`${its} first byte`);
        isFirst = false;
        to.enqueue(chunk);
      },
      flush: () => reach(`${its} last byte`),
    });
    const { status, statusText, headers } = response;
    return new Response(response.body?.pipeThrough(watched) ?? null, { status, statusText, headers });
  };
}

function isIterable(value: unknown): value is AsyncIterable<{ readonly type?: string } | undefined> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

async function* yieldWithBoundaries(
  its: string,
  events: AsyncIterable<{ readonly type?: string } | undefined>,
): AsyncIterable<unknown> {
  for await (const event of events) {
    reach(`${its} ${event?.type ?? "event"}`);
    yield event;
  }
}
