/**
 * Group commit, for stores that write to disk: appends that arrive during a commit share the next one. The store says how
 * a group is written and what a failure means; the queue, its limits and the results are the same for every store.
 */
import { RookeryError, type Appended } from "../domain/index.ts";
import { deferred, type Deferred } from "../stdx/deferred.ts";
import { groupCommits } from "../stdx/measurements.ts";
import type { PreparedAppend } from "./admission.ts";
import type { LogGrowth } from "./log-watches.ts";

/** Limits of a group, which keeps other writers waiting for about 20 ms. A single append may be larger. */
const MAX_GROUP_APPENDS = 2_000;
const MAX_GROUP_BYTES = 1024 * 1024;
/** Limits of the queue. Appends beyond them are rejected until the store catches up. */
const MAX_QUEUED_BYTES = 256 * 1024 * 1024;
const MAX_QUEUED_APPENDS = 200_000;

export interface QueuedAppend {
  readonly prepared: PreparedAppend;
  /** By `performance.now()`. */
  readonly since: number;
  readonly result: Deferred<Appended>;
}

/** What a store decided about one append of a group. */
export type GroupVerdict = { readonly appended: Appended } | { readonly refused: unknown };

export interface AppendGroupsOptions {
  /** The place of the store, for messages. */
  readonly where: () => string;
  /**
   * Called while appends are queued: takes a group, writes it, and settles, rejects or returns it. If it takes none, it
   * is called again. Must not throw.
   */
  commitNext(): Promise<void> | void;
  /** Called after each commit. A log may be listed more than once. */
  onCommit(logs: readonly LogGrowth[]): void;
}

export class AppendGroups {
  readonly #options: AppendGroupsOptions;
  #queue: QueuedAppend[] = [];
  #queuedBytes = 0;
  #running: Promise<void> | undefined;
  /** Number of queued appends to commit one by one, because their group failed and one of them may be the cause. */
  #singleCount = 0;

  constructor(options: AppendGroupsOptions) {
    this.#options = options;
  }

  /** Resolves when the append is durable. Throws `store_unavailable` if the queue is full. */
  add(prepared: PreparedAppend): Promise<Appended> {
    if (this.#queue.length >= MAX_QUEUED_APPENDS || this.#queuedBytes + prepared.bytes > MAX_QUEUED_BYTES) {
      const load = `${this.#queue.length} appends are queued for ${this.#options.where()}, which is the limit`;
      throw new RookeryError("store_unavailable", `${load}: wait for them before you append more`);
    }
    const queued = { prepared, since: performance.now(), result: deferred<Appended>() };
    this.#queue.push(queued);
    this.#queuedBytes += prepared.bytes;
    this.#running ??= this.#run();
    return queued.result.promise;
  }

  /** Resolves when the queue is empty. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Removes the next group from the queue. */
  take(): QueuedAppend[] {
    let bytes = 0;
    let count = 0;
    const maxAppends = this.#singleCount > 0 ? 1 : MAX_GROUP_APPENDS;
    for (const { prepared } of this.#queue) {
      if (count > 0 && (count >= maxAppends || bytes + prepared.bytes > MAX_GROUP_BYTES)) break;
      bytes += prepared.bytes;
      count += 1;
    }
    this.#queuedBytes -= bytes;
    this.#singleCount = Math.max(0, this.#singleCount - count);
    return this.#queue.splice(0, count);
  }

  /** Resolves or rejects each append of a committed group. */
  settle(group: readonly QueuedAppend[], verdicts: readonly GroupVerdict[]): void {
    const grown: LogGrowth[] = [];
    for (const [index, { prepared, result }] of group.entries()) {
      const verdict = verdicts[index];
      if (verdict === undefined || "refused" in verdict) {
        result.reject(verdict?.refused);
        continue;
      }
      const { head, repeated } = verdict.appended;
      if (!repeated) grown.push({ kind: prepared.kind, id: prepared.logId, head });
      result.resolve(verdict.appended);
    }
    if (grown.length === 0) return;
    const bytes = group.reduce((sum, { prepared }) => sum + prepared.bytes, 0);
    groupCommits.publish({ appends: group.length, bytes });
    this.#options.onCommit(grown);
  }

  /**
   * Rejects the appends of a group that was not committed. If one of them may be the cause, queues them again instead, to
   * be committed one by one, so that it only fails itself.
   */
  fail(group: readonly QueuedAppend[], error: unknown, { mayBeOneAppend }: { readonly mayBeOneAppend: boolean }): void {
    if (group.length > 1 && mayBeOneAppend) {
      this.#queue.unshift(...group);
      this.#queuedBytes += group.reduce((sum, { prepared }) => sum + prepared.bytes, 0);
      this.#singleCount = group.length;
    } else {
      for (const { result } of group) result.reject(error);
    }
  }

  /** Rejects the appends that have been queued for this long, in milliseconds. */
  rejectOlderThan(ms: number, error: () => RookeryError): void {
    const oldest = performance.now() - ms;
    const inTime = this.#queue.findIndex(({ since }) => since >= oldest);
    for (const { prepared, result } of this.#queue.splice(0, inTime === -1 ? Infinity : inTime)) {
      this.#queuedBytes -= prepared.bytes;
      result.reject(error());
    }
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      await nextLoopTurn();
      await this.#options.commitNext();
    }
    this.#running = undefined;
  }
}

/** Lets everything that is ready to run join the group first. */
export function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
