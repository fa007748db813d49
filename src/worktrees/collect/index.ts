/** Garbage collection of worktrees: decides which can be removed, reports why the others stay, and removes them. */
export { collectWorktrees, type CollectOptions } from "./collect.ts";
export { examineWorktrees } from "./examine.ts";
export type { ExaminedTask, ExaminedWorktree } from "./examined.ts";
