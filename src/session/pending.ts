/**
 * The entries that a recorder has not written yet, in order. Each entry is one append, with the callers that wait for
 * it.
 */
import type { EventDraft, JournalWrite } from "../domain/index.ts";
import { deferred, type Deferred } from "../stdx/index.ts";
import { MAX_PLAIN_LENGTH } from "./writable.ts";

/** The maximum number of characters in an entry, unless it has only one event. As JSON, it fits into one append. */
export const MAX_ENTRY_LENGTH = MAX_PLAIN_LENGTH;
/** An append of more events would keep other sessions waiting. The events of one call stay together. */
const MAX_ENTRY_EVENTS = 1_000;

export interface Waiter {
  readonly durable: Deferred<void>;
  /** Waits while transient failures are retried. An impatient waiter is rejected with the first failure. */
  readonly patient: boolean;
}

/** The content of one append. */
export interface PendingEntry {
  readonly drafts: EventDraft[];
  readonly journal: JournalWrite[];
  /** Estimated length as JSON, in characters. */
  length: number;
  waiters: Waiter[];
  /** True if no other events are added, so that the entry can be withdrawn. */
  readonly alone: boolean;
  withdrawn: boolean;
}

export class PendingEntries {
  #entries: PendingEntry[] = [];
  #length = 0;
  #drafts = 0;

  /** Estimated length of all entries as JSON, in characters. */
  get length(): number {
    return this.#length;
  }

  get draftCount(): number {
    return this.#drafts;
  }

  /** Returns the last entry if it has room for that many characters, and otherwise a new one. */
  entryFor(length: number): PendingEntry {
    const last = this.#entries.at(-1);
    const hasRoom =
      last !== undefined && last.length + length <= MAX_ENTRY_LENGTH && last.drafts.length < MAX_ENTRY_EVENTS;
    return hasRoom && !last.alone ? last : this.begin(false);
  }

  begin(alone: boolean): PendingEntry {
    const entry: PendingEntry = { drafts: [], journal: [], length: 0, waiters: [], alone, withdrawn: false };
    this.#entries.push(entry);
    return entry;
  }

  add(entry: PendingEntry, draft: EventDraft | undefined, length: number): void {
    entry.length += length;
    this.#length += length;
    if (draft === undefined) return; // the text was merged into the previous draft
    entry.drafts.push(draft);
    this.#drafts += 1;
  }

  /** Settles when the append of this entry does. Default: the last entry. */
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
export function rejectWaiters(
  entries: Iterable<PendingEntry>,
  failure: unknown,
  which: "all" | "impatient" = "all",
): void {
  for (const entry of entries) {
    const rejected = entry.waiters.filter(({ patient }) => which === "all" || !patient);
    entry.waiters = entry.waiters.filter((waiter) => !rejected.includes(waiter));
    for (const { durable } of rejected) durable.reject(failure);
  }
}
