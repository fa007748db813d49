/** Cleaning up: what of the worktrees may go, why the rest stays, and how much that leaves on the disk. */
export { collect, type CollectOptions } from "./collect.ts";
export { examine, type Examined, type ExaminedTask } from "./examine.ts";
