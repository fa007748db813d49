/** Cleaning up: what of the worktrees may go, why the rest stays, and how much that leaves on the disk. */
export { collectWorktrees, type CollectOptions } from "./collect.ts";
export { examineWorktrees, type ExaminedWorktree, type ExaminedTask } from "./examine.ts";
