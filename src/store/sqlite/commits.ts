/** Group commit: appends that arrive during a commit share the next transaction. */
import { setTimeout as delay } from "node:timers/promises";
import { isRookeryError, RookeryError, type Appended } from "../../domain/index.ts";
import { deferred, type Deferred } from "../../stdx/deferred.ts";
import type { PreparedAppend } from "../admission.ts";
import { writeAppends, type AppendVerdict } from "./appends.ts";
import type { Database } from "./database.ts";
import { lockRetryDelay } from "./lock.ts";

/** Limits of a group, which blocks other writers and the event loop for about 20 ms. A single append may be larger. */
const MAX_GROUP_APPENDS = 2_000;
const MAX_GROUP_BYTES = 1024 * 1024;
/** Limits of the queue. Appends beyond them are rejected until the disk catches up. */
const MAX_QUEUED_BYTES = 256 * 1024 * 1024;
const MAX_QUEUED_APPENDS = 200_000;

export interface CommitOptions {
  /** In milliseconds. */
  readonly lockTimeout: number;
  /** Called after each commit with the new heads of the changed logs. */
  onCommit(heads: ReadonlyMap<string, number>): void;
}

export class CommitQueue {
  readonly #db: Database;
  readonly #options: CommitOptions;
  #queue: QueuedAppend[] = [];
  #queuedBytes = 0;
  #running: Promise<void> | undefined;
  /** Number of queued appends to commit one by one, because their group failed and one of them may be the cause. */
  #singleCount = 0;

  constructor(db: Database, options: CommitOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Resolves when the append is on disk. Throws `store_unavailable` if the queue is full. */
  add(prepared: PreparedAppend): Promise<Appended> {
    if (this.#queue.length >= MAX_QUEUED_APPENDS || this.#queuedBytes + prepared.bytes > MAX_QUEUED_BYTES) {
      const load = `${this.#queue.length} appends are queued for ${this.#db.path}, which is the limit`;
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

  async #run(): Promise<void> {
    for (let attempt = 0; this.#queue.length > 0;) {
      await (attempt === 0 ? nextLoopTurn() : delay(lockRetryDelay(attempt)));
      if (this.#commitGroup()) {
        attempt = 0;
      } else {
        attempt += 1;
        this.#rejectTimedOut();
      }
    }
    this.#running = undefined;
  }

  /** False if another process holds the lock. The queue then stays as it is, and new appends join it. */
  #commitGroup(): boolean {
    let group: QueuedAppend[] = [];
    try {
      const verdicts = this.#db.transaction(() => {
        group = this.#takeGroup();
        return writeAppends(
          this.#db,
          group.map(({ prepared }) => prepared),
        );
      });
      this.#settle(group, verdicts);
    } catch (error) {
      if (group.length === 0 && isRookeryError(error, "store_locked")) return false;
      const failed = group.length > 0 ? group : this.#takeGroup();
      if (failed.length > 1 && mayConcernOneLog(error)) this.#retrySingly(failed);
      else for (const { result } of failed) result.reject(error);
    }
    return true;
  }

  /** Ensures that a damaged log only fails its own appends. */
  #retrySingly(group: readonly QueuedAppend[]): void {
    this.#queue.unshift(...group);
    this.#queuedBytes += group.reduce((sum, { prepared }) => sum + prepared.bytes, 0);
    this.#singleCount = group.length;
  }

  #takeGroup(): QueuedAppend[] {
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

  #settle(group: readonly QueuedAppend[], verdicts: readonly AppendVerdict[]): void {
    const heads = new Map<string, number>();
    for (const [index, { prepared, result }] of group.entries()) {
      const verdict = verdicts[index];
      if (verdict === undefined || "refused" in verdict) {
        result.reject(verdict?.refused);
        continue;
      }
      if (!verdict.appended.repeated) heads.set(prepared.logId, verdict.appended.head);
      result.resolve(verdict.appended);
    }
    if (heads.size > 0) this.#options.onCommit(heads);
  }

  #rejectTimedOut(): void {
    const { lockTimeout } = this.#options;
    const oldest = performance.now() - lockTimeout;
    const inTime = this.#queue.findIndex(({ since }) => since >= oldest);
    for (const { prepared, result } of this.#queue.splice(0, inTime === -1 ? Infinity : inTime)) {
      this.#queuedBytes -= prepared.bytes;
      result.reject(toLockTimeoutError(this.#db.path, lockTimeout));
    }
  }
}

interface QueuedAppend {
  readonly prepared: PreparedAppend;
  readonly since: number;
  readonly result: Deferred<Appended>;
}

/** A full disk or a lost file fails every append. Other errors may come from a single log. */
function mayConcernOneLog(error: unknown): boolean {
  return !isRookeryError(error) || error.code === "log_corrupt" || error.code === "store_corrupt";
}

/** Lets everything that is ready to run join the group first. */
function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function toLockTimeoutError(path: string, timeout: number): RookeryError {
  const seconds = `${timeout / 1000} s`;
  return new RookeryError(
    "store_locked",
    `${path} was locked by another process for ${seconds}: stop that process, or try again`,
  );
}
