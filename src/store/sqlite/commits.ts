/** Group commit: what is appended while a commit is pending goes into the next transaction together. */
import { setTimeout as delay } from "node:timers/promises";
import { isRookeryError, RookeryError, type Appended } from "../../domain/index.ts";
import { deferred, type Deferred } from "../../stdx/deferred.ts";
import type { Admissible } from "../admission.ts";
import { writeAppends, type Verdict } from "./appends.ts";
import type { Database } from "./database.ts";
import { pause } from "./lock.ts";

/** A group ends here, so that others get the lock soon and the event loop is held for some 20 ms; one append alone may be larger. */
const GROUP_APPENDS = 2_000;
const GROUP_BYTES = 1024 * 1024;
/** More than this waiting means that the disk does not keep up: appends are then refused until it does. */
const WAITING_BYTES = 256 * 1024 * 1024;
const WAITING_APPENDS = 200_000;

export interface CommitOptions {
  readonly lockTimeout: number;
  /** Called after each commit with the sessions and tasks that grew. */
  onCommit(heads: ReadonlyMap<string, number>): void;
}

export class Commits {
  readonly #db: Database;
  readonly #options: CommitOptions;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | undefined;
  /** How many of those that wait are committed one by one: together they failed, and one of them may be why. */
  #alone = 0;

  constructor(db: Database, options: CommitOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Resolves when the append is on the disk. */
  add(admissible: Admissible): Promise<Appended> {
    if (this.#waiting.length >= WAITING_APPENDS || this.#waitingBytes + admissible.bytes > WAITING_BYTES) {
      const load = `${this.#waiting.length} appends are waiting to be written to ${this.#db.path}`;
      throw new RookeryError("store_unavailable", `${load}: wait for them before making more`);
    }
    const waiting = { admissible, since: performance.now(), result: deferred<Appended>() };
    this.#waiting.push(waiting);
    this.#waitingBytes += admissible.bytes;
    this.#running ??= this.#run();
    return waiting.result.promise;
  }

  /** Resolves when nothing is waiting any more. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    for (let attempt = 0; this.#waiting.length > 0;) {
      await (attempt === 0 ? turnOfLoop() : delay(pause(attempt)));
      if (this.#commitGroup()) {
        attempt = 0;
      } else {
        attempt += 1;
        this.#refuseLate();
      }
    }
    this.#running = undefined;
  }

  /** False where another process holds the lock: what waits goes on waiting, and what arrives meanwhile joins it. */
  #commitGroup(): boolean {
    let group: Waiting[] = [];
    try {
      const verdicts = this.#db.transaction(() => {
        group = this.#take();
        return writeAppends(
          this.#db,
          group.map(({ admissible }) => admissible),
        );
      });
      this.#answer(group, verdicts);
    } catch (error) {
      if (group.length === 0 && isRookeryError(error, "store_locked")) return false;
      const failed = group.length > 0 ? group : this.#take();
      if (failed.length > 1 && mayBeOfOne(error)) this.#retryAlone(failed);
      else for (const { result } of failed) result.reject(error);
    }
    return true;
  }

  /** A damaged log fails its own appends and nobody else's. */
  #retryAlone(group: readonly Waiting[]): void {
    this.#waiting.unshift(...group);
    this.#waitingBytes += group.reduce((sum, { admissible }) => sum + admissible.bytes, 0);
    this.#alone = group.length;
  }

  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    const most = this.#alone > 0 ? 1 : GROUP_APPENDS;
    for (const { admissible } of this.#waiting) {
      if (count > 0 && (count >= most || bytes + admissible.bytes > GROUP_BYTES)) break;
      bytes += admissible.bytes;
      count += 1;
    }
    this.#waitingBytes -= bytes;
    this.#alone = Math.max(0, this.#alone - count);
    return this.#waiting.splice(0, count);
  }

  #answer(group: readonly Waiting[], verdicts: readonly Verdict[]): void {
    const heads = new Map<string, number>();
    for (const [index, { admissible, result }] of group.entries()) {
      const verdict = verdicts[index];
      if (verdict === undefined || "refused" in verdict) {
        result.reject(verdict?.refused);
        continue;
      }
      if (!verdict.appended.repeated) heads.set(admissible.logId, verdict.appended.head);
      result.resolve(verdict.appended);
    }
    if (heads.size > 0) this.#options.onCommit(heads);
  }

  #refuseLate(): void {
    const { lockTimeout } = this.#options;
    const oldest = performance.now() - lockTimeout;
    const inTime = this.#waiting.findIndex(({ since }) => since >= oldest);
    for (const { admissible, result } of this.#waiting.splice(0, inTime === -1 ? Infinity : inTime)) {
      this.#waitingBytes -= admissible.bytes;
      result.reject(lockedFor(this.#db.path, lockTimeout));
    }
  }
}

interface Waiting {
  readonly admissible: Admissible;
  readonly since: number;
  readonly result: Deferred<Appended>;
}

/** A full disk or a lost file fails every append; anything else may be due to one log. */
function mayBeOfOne(error: unknown): boolean {
  return !isRookeryError(error) || error.code === "log_corrupt" || error.code === "store_corrupt";
}

/** After everything that is ready to run now, so that all of it can join the group. */
function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function lockedFor(path: string, timeout: number): RookeryError {
  const seconds = `${timeout / 1000} s`;
  return new RookeryError("store_locked", `${path} was locked by another process for ${seconds}: end it, or try again`);
}
