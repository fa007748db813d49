/** A lock that a git left in a task's worktree when it was killed: nobody works there when the task is taken again. */
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { abortableSleep } from "../stdx/index.ts";
import { findLinkedWorktree } from "./linked-worktrees.ts";
import type { Repository } from "./repository.ts";

/** A person may be doing something there just now. */
const STALE_MS = 3_000;
const POLL_MS = 50;

/** Of the worktree's own index alone: what all worktrees share may be in anyone's use. */
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
