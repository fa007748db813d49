/** Commits the changes that an agent left uncommitted, because only commits can be merged. */
import { commitAll, type Repository, type Worktree } from "../worktrees/index.ts";
import type { PoolParts } from "./parts.ts";
import type { TaskWriter } from "./task-writer.ts";

/** Leaves out the files that were copied into the worktree, even if git does not ignore them: they may hold secrets. */
export async function commitRemainingChanges(of: {
  readonly parts: PoolParts;
  readonly writer: TaskWriter;
  readonly repository: Repository;
  readonly worktree: Worktree;
}): Promise<void> {
  const { parts, writer, repository, worktree } = of;
  const { id, spec, worktree: known } = writer.state;
  const leave = known?.copied ?? (await parts.config(repository.root)).worktree.copy;
  await commitAll(worktree, repository, { message: `${spec.title}\n\nRookery-Task: ${id}\n`, exclude: leave });
}
