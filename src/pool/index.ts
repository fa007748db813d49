/** Runs many tasks, each in its own worktree. All processes that use the same home share them. */
export type { PoolParts, TaskSessionOptions } from "./parts.ts";
export { planTask } from "./plan.ts";
export { Pool } from "./pool.ts";
export type { RunTasks } from "./scheduler.ts";
