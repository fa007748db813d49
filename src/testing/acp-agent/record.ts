/** What happened to a scripted agent, in order: kept in memory, and in a file when one is named. */

import { closeSync, openSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

export type Entry =
  | { readonly type: "started"; readonly pid: number; readonly cwd: string; readonly args: readonly string[] }
  /** A message as it was received. */
  | { readonly type: "received"; readonly message: unknown }
  /** A line that is no JSON. */
  | { readonly type: "malformed"; readonly line: string }
  | { readonly type: "eof" }
  | { readonly type: "signal"; readonly signal: string }
  /** What is wrong with the script, or with the client: a response to nothing, a prompt that nobody wrote. */
  | { readonly type: "problem"; readonly problem: string };

const MAX_ENTRIES = 100_000;

export class AgentRecord {
  readonly #entries: Entry[] = [];
  readonly #watchers = new Set<() => void>();
  #file: number | undefined;

  /** Each entry is in the file before anything follows from it, so that a kill loses none. */
  constructor(file?: string) {
    if (file !== undefined) this.#file = openSync(file, "a", 0o600);
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  get received(): readonly unknown[] {
    return this.#entries.flatMap((entry) => (entry.type === "received" ? [entry.message] : []));
  }

  get problems(): readonly string[] {
    return this.#entries.flatMap((entry) => (entry.type === "problem" ? [entry.problem] : []));
  }

  add(entry: Entry): void {
    if (this.#entries.length < MAX_ENTRIES) this.#entries.push(entry);
    if (this.#file !== undefined) writeSync(this.#file, JSON.stringify(entry) + "\n");
    for (const watcher of this.#watchers) watcher();
  }

  problem(problem: string): void {
    this.add({ type: "problem", problem });
  }

  /** The first entry that is wanted, also one from before the call. */
  async find(wanted: (entry: Entry, index: number) => boolean, signal: AbortSignal): Promise<Entry> {
    for (;;) {
      const found = this.#entries.find(wanted);
      if (found !== undefined) return found;
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const woken = (): void => {
          this.#watchers.delete(woken);
          signal.removeEventListener("abort", woken);
          resolve();
        };
        this.#watchers.add(woken);
        signal.addEventListener("abort", woken);
      });
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** What the file of a subprocess says up to now; an unfinished last line and a missing file count as nothing yet. */
export async function readRecord(file: string): Promise<Entry[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);
}

const LOOK_AGAIN_MS = 10;

/** Waits until the file of a subprocess has an entry that is wanted. */
export async function recorded(file: string, wanted: (entry: Entry) => boolean, withinMs = 10_000): Promise<Entry> {
  const until = Date.now() + withinMs;
  for (;;) {
    const entries = await readRecord(file);
    const found = entries.find(wanted);
    if (found !== undefined) return found;
    if (Date.now() > until)
      throw new Error(`not recorded within ${withinMs} ms; ${file} has ${JSON.stringify(entries)}`);
    await pause(LOOK_AGAIN_MS);
  }
}
