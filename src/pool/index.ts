/** The pool: many tasks, each in a worktree of its own, shared by all processes of the machine. */
export type { PoolParts, TaskSessionOptions } from "./parts.ts";
export { Pool } from "./pool.ts";
export type { RunTasks } from "./scheduler.ts";
