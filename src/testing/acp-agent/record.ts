/** Records what happens to a scripted agent, in memory and optionally in a file. */

import { closeSync, openSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

export type AcpRecordEntry =
  | { readonly type: "started"; readonly pid: number; readonly cwd: string; readonly args: readonly string[] }
  /** A received message, unchanged. */
  | { readonly type: "received"; readonly message: unknown }
  /** A received line that is not valid JSON. */
  | { readonly type: "malformed"; readonly line: string }
  | { readonly type: "eof" }
  | { readonly type: "signal"; readonly signal: string }
  /** A mistake in the script or the client, such as a response without a request or a prompt without a turn. */
  | { readonly type: "problem"; readonly problem: string };

const MAX_ENTRIES = 100_000;

export class AgentRecord {
  readonly #entries: AcpRecordEntry[] = [];
  readonly #watchers = new Set<() => void>();
  #file: number | undefined;

  /** Writes each entry before the agent acts on it, so that a kill loses no entry. */
  constructor(file?: string) {
    if (file !== undefined) this.#file = openSync(file, "a", 0o600);
  }

  get entries(): readonly AcpRecordEntry[] {
    return this.#entries;
  }

  get received(): readonly unknown[] {
    return this.#entries.flatMap((entry) => (entry.type === "received" ? [entry.message] : []));
  }

  get problems(): readonly string[] {
    return this.#entries.flatMap((entry) => (entry.type === "problem" ? [entry.problem] : []));
  }

  add(entry: AcpRecordEntry): void {
    if (this.#entries.length < MAX_ENTRIES) this.#entries.push(entry);
    if (this.#file !== undefined) writeSync(this.#file, JSON.stringify(entry) + "\n");
    for (const watcher of this.#watchers) watcher();
  }

  problem(problem: string): void {
    this.add({ type: "problem", problem });
  }

  /** Resolves with the first entry that matches, including earlier ones. Rejects with the signal's reason. */
  async find(wanted: (entry: AcpRecordEntry, index: number) => boolean, signal: AbortSignal): Promise<AcpRecordEntry> {
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

/** Reads the record of a subprocess. Ignores an incomplete last line. A missing file counts as empty. */
export async function readAcpRecord(file: string): Promise<AcpRecordEntry[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AcpRecordEntry);
}

const POLL_MS = 10;

/** Waits until the record of a subprocess has a matching entry. Rejects after `withinMs`. Default: 10 s. */
export async function acpRecorded(
  file: string,
  wanted: (entry: AcpRecordEntry) => boolean,
  withinMs = 10_000,
): Promise<AcpRecordEntry> {
  const until = Date.now() + withinMs;
  for (;;) {
    const entries = await readAcpRecord(file);
    const found = entries.find(wanted);
    if (found !== undefined) return found;
    if (Date.now() > until)
      throw new Error(`no matching entry within ${withinMs} ms; ${file} has ${JSON.stringify(entries)}`);
    await pause(POLL_MS);
  }
}
