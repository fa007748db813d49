/** Commits groups of appends, each in one transaction, and waits while another process holds the lock. */
import { setTimeout as delay } from "node:timers/promises";
import { isRookeryError, RookeryError, type Appended } from "../../domain/index.ts";
import type { PreparedAppend } from "../admission.ts";
import { AppendGroups, type AppendGroupsOptions, type QueuedAppend } from "../append-groups.ts";
import { writeAppends } from "./appends.ts";
import type { Database } from "./database.ts";
import { lockRetryDelay } from "./lock.ts";

export interface CommitOptions extends Pick<AppendGroupsOptions, "onCommit"> {
  /** In milliseconds. */
  readonly lockTimeout: number;
}

export class CommitQueue {
  readonly #db: Database;
  readonly #lockTimeout: number;
  readonly #groups: AppendGroups;
  /** How many attempts in a row have found the lock taken. */
  #attempts = 0;

  constructor(db: Database, { lockTimeout, onCommit }: CommitOptions) {
    this.#db = db;
    this.#lockTimeout = lockTimeout;
    this.#groups = new AppendGroups({ where: () => db.path, commitNext: () => this.#commitNext(), onCommit });
  }

  /** Resolves when the append is on disk. Throws `store_unavailable` if the queue is full. */
  add(prepared: PreparedAppend): Promise<Appended> {
    return this.#groups.add(prepared);
  }

  /** Resolves when the queue is empty. */
  drained(): Promise<void> {
    return this.#groups.drained();
  }

  #commitNext(): Promise<void> | undefined {
    if (this.#tryCommit()) {
      this.#attempts = 0;
      return undefined;
    }
    this.#attempts += 1;
    this.#groups.rejectOlderThan(this.#lockTimeout, () => toLockTimeoutError(this.#db.path, this.#lockTimeout));
    return delay(lockRetryDelay(this.#attempts));
  }

  /** False if another process holds the lock. The queue then stays as it is, and new appends join it. */
  #tryCommit(): boolean {
    let group: readonly QueuedAppend[] = [];
    try {
      const verdicts = this.#db.transaction(() => {
        group = this.#groups.take();
        return writeAppends(
          this.#db,
          group.map(({ prepared }) => prepared),
        );
      });
      this.#groups.settle(group, verdicts);
    } catch (error) {
      if (group.length === 0 && isRookeryError(error, "store_locked")) return false;
      const failed = group.length > 0 ? group : this.#groups.take();
      this.#groups.fail(failed, error, { mayBeOneAppend: mayConcernOneLog(error) });
    }
    return true;
  }
}

/** A full disk or a lost file fails every append. Other errors may come from a single log. */
function mayConcernOneLog(error: unknown): boolean {
  return !isRookeryError(error) || error.code === "log_corrupt" || error.code === "store_corrupt";
}

function toLockTimeoutError(path: string, timeout: number): RookeryError {
  const seconds = `${timeout / 1000} s`;
  return new RookeryError(
    "store_locked",
    `${path} was locked by another process for ${seconds}: stop that process, or try again`,
  );
}
