/** The entries that a recorder has yet to write, in order. Each is one append, with the callers that wait for it. */
import type { EventDraft, JournalWrite } from "../domain/index.ts";
import { deferred, type Deferred } from "../stdx/index.ts";
import { MAX_PLAIN_LENGTH } from "./writable.ts";

/** Characters that an entry holds at most, unless one event alone has more; as JSON they fit into one append. */
export const MAX_ENTRY_LENGTH = MAX_PLAIN_LENGTH;

export interface Waiter {
  readonly durable: Deferred<void>;
  /** Waits through passing failures for a while. An impatient waiter is rejected with the first failure. */
  readonly patient: boolean;
}

/** What one append holds. */
export interface PendingEntry {
  readonly drafts: EventDraft[];
  readonly journal: JournalWrite[];
  /** Estimated, in characters of JSON. */
  length: number;
  waiters: Waiter[];
  /** No other events join it, so that it can be withdrawn. */
  readonly alone: boolean;
  withdrawn: boolean;
}

export class PendingEntries {
  #entries: PendingEntry[] = [];
  #length = 0;
  #drafts = 0;

  /** In characters of JSON. */
  get length(): number {
    return this.#length;
  }

  get draftCount(): number {
    return this.#drafts;
  }

  /** Returns an entry with room for that many characters: the last one, or a new one. */
  entryFor(length: number): PendingEntry {
    const last = this.#entries.at(-1);
    if (last !== undefined && !last.alone && last.length + length <= MAX_ENTRY_LENGTH) return last;
    return this.begin(false);
  }

  begin(alone: boolean): PendingEntry {
    const entry: PendingEntry = { drafts: [], journal: [], length: 0, waiters: [], alone, withdrawn: false };
    this.#entries.push(entry);
    return entry;
  }

  add(entry: PendingEntry, draft: EventDraft | undefined, length: number): void {
    entry.length += length;
    this.#length += length;
    if (draft === undefined) return; // its text joined that of the draft before
    entry.drafts.push(draft);
    this.#drafts += 1;
  }

  /** Settles as the append of this entry does. Default: the last entry. */
  wait(patient: boolean, entry = this.#entries.at(-1) ?? this.begin(false)): Promise<void> {
    const durable = deferred();
    entry.waiters.push({ durable, patient });
    return durable.promise;
  }

  take(): PendingEntry | undefined {
    return this.#remove(0, 1)[0];
  }

  withdraw(entry: PendingEntry): void {
    entry.withdrawn = true;
    const index = this.#entries.indexOf(entry);
    if (index !== -1) this.#remove(index, 1);
  }

  clear(): PendingEntry[] {
    return this.#remove(0, this.#entries.length);
  }

  [Symbol.iterator](): Iterator<PendingEntry> {
    return this.#entries[Symbol.iterator]();
  }

  #remove(index: number, count: number): PendingEntry[] {
    const removed = this.#entries.splice(index, count);
    for (const { length, drafts } of removed) {
      this.#length -= length;
      this.#drafts -= drafts.length;
    }
    return removed;
  }
}

/** Rejects the waiters of these entries: all of them, or only the impatient ones. */
export function rejectWaiters(entries: Iterable<PendingEntry>, failure: unknown, which: "all" | "impatient" = "all"): void {
  for (const entry of entries) {
    const rejected = entry.waiters.filter(({ patient }) => which === "all" || !patient);
    entry.waiters = entry.waiters.filter((waiter) => !rejected.includes(waiter));
    for (const { durable } of rejected) durable.reject(failure);
  }
}
