/** Injects one failure into a run: at the nth call of the store, of git, or of a child's start. */
import childProcess, { type ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { RookeryError, type Store } from "../domain/index.ts";

export type FaultKind = "store" | "git" | "spawn";

export interface FaultPoint {
  readonly kind: FaultKind;
  /** Counted from 1. */
  readonly at: number;
}

/** Counts the calls of one run, and fails one of them. */
export class Faults {
  readonly #point: FaultPoint | undefined;
  readonly calls: Record<FaultKind, string[]> = { store: [], git: [], spawn: [] };
  /** The call that failed. */
  injected: string | undefined;
  #isOn = true;

  constructor(point?: FaultPoint) {
    this.#point = point;
  }

  /** Counts the call. True if it must fail. */
  hits(kind: FaultKind, name: string): boolean {
    if (!this.#isOn) return false;
    const { length } = this.calls[kind];
    this.calls[kind].push(name);
    if (this.#point?.kind !== kind || this.#point.at !== length + 1) return false;
    this.injected = `${kind} ${length + 1}: ${name}`;
    return true;
  }

  /** Ends the run: later calls are neither counted nor failed. */
  stop(): void {
    this.#isOn = false;
  }
}

const STORE_FAILURES = ["store_full", "store_locked", "store_unavailable"] as const;

/** The same store, of which one call fails before it has done anything, or after it has done all of it. */
export function failingStore(store: Store, faults: Faults): Store {
  let count = 0;
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (typeof name === "symbol") return value.bind(target) as unknown;
      return (...args: unknown[]): unknown => {
        count += 1;
        const code = STORE_FAILURES[count % STORE_FAILURES.length] ?? "store_full";
        const failure = new RookeryError(code, `an injected failure of ${name}`);
        const isHit = faults.hits("store", name);
        if (!isHit) return Reflect.apply(value, target, args) as unknown;
        if (name.startsWith("follow")) return failingIterable(failure);
        if (count % 2 === 0) return Promise.reject(failure);
        return (Reflect.apply(value, target, args) as Promise<unknown>).then(() => Promise.reject(failure));
      };
    },
  });
}

function failingIterable(failure: Error): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(failure) }) };
}

type Spawn = (command: string, args: readonly string[], options: object) => ChildProcess;

/** Until it is disposed, children that this process starts are counted, and one of them fails: git, or any program. */
export function failingSpawn(faults: Faults): Disposable {
  const real = childProcess.spawn as Spawn;
  const spawn: Spawn = (command, args, options) => {
    const line = [command, ...args];
    const isGit = line.some((word) => /(^|\/)git$/.test(word));
    const name = line
      .filter((word) => !word.startsWith("-") && !word.includes("="))
      .slice(0, 6)
      .join(" ")
      .slice(0, 100);
    if (faults.hits("spawn", name)) return real("/nonexistent/program", [], options);
    if (isGit && faults.hits("git", name)) {
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
