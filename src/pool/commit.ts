/** What an agent left without committing it, committed for it: only what is in the branch can be merged. */
import { commitAll, type Repository, type Worktree } from "../worktrees/index.ts";
import type { PoolParts } from "./parts.ts";
import type { Pen } from "./pen.ts";

/** The files that were copied into it stay out of it, also where git does not ignore them: they are the user's secrets. */
export async function commitLeft(of: {
  readonly parts: PoolParts;
  readonly pen: Pen;
  readonly repository: Repository;
  readonly worktree: Worktree;
}): Promise<void> {
  const { parts, pen, repository, worktree } = of;
  const { id, spec, worktree: known } = pen.state;
  const leave = known?.copied ?? (await parts.config(spec.repository)).worktree.copy;
  await commitAll(worktree, repository, { message: `${spec.title}\n\nRookery-Task: ${id}\n`, leave });
}
