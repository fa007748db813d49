/** Runs one merge at a time per repository: in order within a process, and under a lock between processes. */
import { join } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import { deferred, raceAbort } from "../../stdx/index.ts";
import { withLock } from "../lock.ts";
import type { Repository } from "../repository.ts";

/** Further merges are rejected. */
const MAX_WAITING = 1_000;

interface MergeQueue {
  /** Settles when the last queued merge is done. Never rejects. */
  last: Promise<void>;
  length: number;
}

/** Queues by common git folder. */
const queues = new Map<string, MergeQueue>();

/**
 * Waits without a time limit, because a gate may run for a long time, or until the signal aborts. Not reentrant. Rejects with
 * `repository_locked` if too many merges are waiting.
 */
export async function runInMergeQueue<T>(
  { commonDir }: Pick<Repository, "commonDir">,
  work: () => Promise<T>,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const queue = queues.get(commonDir) ?? { last: Promise.resolve(), length: 0 };
  if (queue.length >= MAX_WAITING) {
    throw new RookeryError(
      "repository_locked",
      `${MAX_WAITING} merges are already waiting in this repository; try again later`,
    );
  }
  queues.set(commonDir, queue);
  queue.length += 1;
  const before = queue.last;
  const done = deferred();
  queue.last = done.promise;
  try {
    await raceAbort(before, signal);
    const file = join(commonDir, "rookery-merge.lock");
    const locked = await withLock(file, Number.POSITIVE_INFINITY, work, signal);
    if (locked === undefined) throw new Error(`could not lock ${file}, although the wait has no limit`);
    return locked.result;
  } finally {
    void before.then(() => done.resolve()); // an aborted merge keeps its place, so the next one still waits for those before it
    queue.length -= 1;
    if (queue.length === 0) queues.delete(commonDir);
  }
}
