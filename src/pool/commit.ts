/** What an agent left without committing it, committed for it: only what is in the branch can be merged. */
import { commitAll, type Repository, type Worktree } from "../worktrees/index.ts";
import type { Pen } from "./pen.ts";

export async function commitLeft(of: {
  readonly pen: Pen;
  readonly repository: Repository;
  readonly worktree: Worktree;
}): Promise<void> {
  const { pen, repository, worktree } = of;
  const { id, spec } = pen.state;
  await commitAll(worktree, repository, { message: `${spec.title}\n\nRookery-Task: ${id}\n` });
}
