/** One merge at a time per repository: in the order they came within a process, and one process at a time. */
import { join } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import { deferred, raceAbort } from "../../stdx/index.ts";
import { withLock } from "../lock.ts";
import type { Repository } from "../repository.ts";

/** Beyond it, one is refused. */
const MAX_WAITING = 1_000;

interface MergeQueue {
  /** Resolves when the last one is through; never rejects. */
  last: Promise<void>;
  length: number;
}

/** By the folder that all worktrees of a repository share. */
const queues = new Map<string, MergeQueue>();

/**
 * Waits for as long as it takes, since a gate may run for long, or until the signal. Not to be called from within itself.
 * Rejects with `repository_locked` where too many wait.
 */
export async function runInMergeQueue<T>(
  { commonDir }: Pick<Repository, "commonDir">,
  work: () => Promise<T>,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const line = queues.get(commonDir) ?? { last: Promise.resolve(), length: 0 };
  if (line.length >= MAX_WAITING) {
    throw new RookeryError("repository_locked", `${MAX_WAITING} merges wait in this repository already; wait for some`);
  }
  queues.set(commonDir, line);
  line.length += 1;
  const before = line.last;
  const through = deferred();
  line.last = through.promise;
  try {
    await raceAbort(before, signal);
    const file = join(commonDir, "rookery-merge.lock");
    const done = await withLock(file, Number.POSITIVE_INFINITY, work, signal);
    if (done === undefined) throw new Error(`${file} was waited for in vain, although without end`);
    return done.result;
  } finally {
    void before.then(() => through.resolve()); // who gives up keeps the place: the next one waits for those before it
    line.length -= 1;
    if (line.length === 0) queues.delete(commonDir);
  }
}
