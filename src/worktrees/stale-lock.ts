/** Removes the index lock that a killed git left in a task's worktree. Call it before the task starts again. */
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { abortableSleep } from "../stdx/index.ts";
import { findLinkedWorktree } from "./linked-worktrees.ts";
import type { Repository } from "./repository.ts";

/** A younger lock may belong to a git command that a person just started. */
const STALE_MS = 3_000;
const POLL_MS = 50;

/** Waits until the lock is stale, then deletes it. Affects only this worktree's index, never files that worktrees share. */
export async function removeStaleLock(repository: Repository, path: string, signal?: AbortSignal): Promise<void> {
  const linked = await findLinkedWorktree(repository, path);
  if (linked === undefined) return;
  const lock = join(linked.dir, "index.lock");
  for (;;) {
    const found = await stat(lock).catch(() => undefined);
    if (found === undefined) return;
    if (Math.abs(Date.now() - found.mtimeMs) > STALE_MS) return rm(lock, { force: true });
    await abortableSleep(POLL_MS, signal);
  }
}
