/** The boundaries that a process crosses: each has a name, and at one of them the process may kill itself. */
import { writeSync } from "node:fs";
import type { Store } from "../domain/index.ts";

export interface Orders {
  /** Say every boundary as it is reached. */
  readonly record?: boolean | undefined;
  /** Die at this one, or at the so manieth of all. */
  readonly killAt?: string | number | undefined;
}

/** What a child says, one JSON object a line. */
export type Said =
  | { readonly reached: string }
  | { readonly killed: string }
  | { readonly session: string }
  | { readonly settled: Readonly<Record<string, number>> };

let orders: Orders = {};
let reached = 0;
const counts = new Map<string, number>();

export function obey(given: Orders): void {
  orders = given;
}

/** Dies here and now, if it was told to: nothing that comes after this call happens. */
export function reach(name: string): void {
  reached += 1;
  if (orders.record === true) say({ reached: name });
  if (orders.killAt !== name && orders.killAt !== reached) return;
  say({ killed: name });
  process.kill(process.pid, "SIGKILL");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // the signal may take a moment
}

/** The same thing is done several times: each has a number. */
export function numbered(what: string): string {
  const count = (counts.get(what) ?? 0) + 1;
  counts.set(what, count);
  return `${what}#${count}`;
}

/** Synchronously: what was said was said, also if the next thing is a SIGKILL. */
export function say(message: Said): void {
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let written = 0; written < line.length;) {
    try {
      written += writeSync(1, line, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}

/** The same store, whose every method has a boundary before and after it. */
export function crossed(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      const what = `store ${typeof name === "symbol" ? "close" : name}`;
      return (...args: unknown[]): unknown => {
        const its = numbered(what);
        reach(`${its} before`);
        const given: unknown = Reflect.apply(value, target, args);
        if (given instanceof Promise) return given.finally(() => reach(`${its} after`));
        return isIterable(given) ? told(its, given) : given;
      };
    },
  });
}

/** The same function, with boundaries where a request leaves, its answer begins, and its first and last byte come. */
export function crossedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const its = numbered("provider request");
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

function isIterable(value: unknown): value is AsyncIterable<{ readonly type?: string }> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

async function* told(its: string, events: AsyncIterable<{ readonly type?: string }>): AsyncIterable<unknown> {
  for await (const event of events) {
    reach(`${its} ${event.type ?? "event"}`);
    yield event;
  }
}
