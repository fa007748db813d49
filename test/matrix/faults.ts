/** Injects one failure into a run: at a call of the store, of git, or of `spawn`. */
import childProcess, { type ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { RookeryError, type Store } from "../../src/domain/index.ts";

export type FaultKind = "store" | "git" | "spawn";

/**
 * A call of a run. It is identified in another run by its name and by the number of earlier calls with that name,
 * because timers also call the store, so that the position among all calls varies.
 */
export interface FaultCall {
  readonly kind: FaultKind;
  readonly name: string;
  /** Counted from 1, among the calls of this name. */
  readonly nth: number;
}

export interface FaultPoint extends FaultCall {
  /** Whether a call of the store fails before or after it does its work. */
  readonly when: "before" | "after";
  readonly code: (typeof STORE_FAILURES)[number];
}

export const STORE_FAILURES = ["store_full", "store_locked", "store_unavailable"] as const;
/** Calls of the store that write. Each may fail before or after the write. */
const STORE_WRITES = /^(append|claim|acquire|renew|release|delete|keep|put|save|ask|remove|forget|agree)/;

/** Returns the ways in which a call can fail. */
export function toFaultPoints(call: FaultCall, index: number): FaultPoint[] {
  const code = STORE_FAILURES[index % STORE_FAILURES.length] ?? "store_full";
  const isWrite = call.kind === "store" && STORE_WRITES.test(call.name);
  const before: FaultPoint = { ...call, when: "before", code };
  return isWrite ? [before, { ...before, when: "after" }] : [before];
}

/** Counts the calls of one run and fails one of them. */
export class Faults {
  readonly #point: FaultPoint | undefined;
  readonly calls: Record<FaultKind, FaultCall[]> = { store: [], git: [], spawn: [] };
  readonly #counts = new Map<string, number>();
  isInjected = false;
  #isOn = true;

  constructor(point?: FaultPoint) {
    this.#point = point;
  }

  /** Counts the call, under its first name if it has several. Returns how it must fail, if it must. */
  failureOf(kind: FaultKind, names: readonly string[]): FaultPoint | undefined {
    if (!this.#isOn) return undefined;
    const calls = [...new Set(names)].map((name) => ({ kind, name, nth: this.#countOf(kind, name) }));
    this.calls[kind].push(...calls.slice(0, 1));
    const point = this.#point;
    const isHit = calls.some((call) => call.kind === point?.kind && call.name === point.name && call.nth === point.nth);
    if (!isHit || this.isInjected) return undefined;
    this.isInjected = true;
    return point;
  }

  /** Ends the run: later calls are neither counted nor failed. */
  stop(): void {
    this.#isOn = false;
  }

  #countOf(kind: FaultKind, name: string): number {
    const count = (this.#counts.get(`${kind} ${name}`) ?? 0) + 1;
    this.#counts.set(`${kind} ${name}`, count);
    return count;
  }
}

/** Wraps a store so that one call fails. */
export function failingStore(store: Store, faults: Faults): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (typeof name === "symbol") return value.bind(target) as unknown;
      return (...args: unknown[]): unknown => {
        const point = faults.failureOf("store", namesOfCall(name, args[0]));
        if (point === undefined) return Reflect.apply(value, target, args) as unknown;
        const failure = new RookeryError(point.code, `an injected failure of ${name}`);
        if (name.startsWith("follow") || name.startsWith("watch")) return failingIterable(failure);
        if (point.when === "before") return Promise.reject(failure);
        return (Reflect.apply(value, target, args) as Promise<unknown>).then(() => Promise.reject(failure));
      };
    },
  });
}

/** Names an append after each of its event types, because the batching of events varies. */
function namesOfCall(method: string, argument: unknown): string[] {
  if (typeof argument !== "object" || argument === null || !("events" in argument)) return [method];
  return (argument.events as { type: string }[]).map(({ type }) => `${method} ${type}`);
}

function failingIterable(failure: Error): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(failure) }) };
}

type Spawn = (command: string, args: readonly string[], options: object) => ChildProcess;

/** Counts the child processes that this process starts, and fails one of them, until it is disposed. */
export function failingSpawn(faults: Faults): Disposable {
  const real = childProcess.spawn as Spawn;
  const spawn: Spawn = (command, args, options) => {
    const line = [command, ...args];
    const isGit = line.some((word) => /(^|\/)git$/.test(word));
    const name = nameOfProgram(line);
    if (faults.failureOf("spawn", [name]) !== undefined) return real("/nonexistent/program", [], options);
    if (isGit && faults.failureOf("git", [name]) !== undefined) {
      return real("sh", ["-c", "echo 'fatal: an injected failure' >&2; exit 128"], options);
    }
    return real(command, args, options);
  };
  Object.assign(childProcess, { spawn });
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]: () => {
      Object.assign(childProcess, { spawn: real });
      syncBuiltinESMExports();
    },
  };
}

/** Removes options and the parts that vary between runs: hashes, numbers and temporary folders. */
function nameOfProgram(line: readonly string[]): string {
  return line
    .filter((word) => !word.startsWith("-") && !word.includes("="))
    .slice(0, 6)
    .join(" ")
    .replaceAll(/\/tmp\/[^/ ]+|\b[0-9a-f]{7,}\b/g, "*")
    .replaceAll("\n", " ")
    .slice(0, 100);
}
