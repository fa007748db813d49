/** Types that all stages of a run share. */
import type { Repository, Worktree } from "../../worktrees/index.ts";
import type { PoolParts } from "../parts.ts";
import type { TimeLimit } from "../time-limit.ts";
import type { TaskWriter } from "../task-writer.ts";

export interface TaskRun {
  readonly parts: PoolParts;
  readonly writer: TaskWriter;
  readonly repository: Repository;
  readonly worktree: Worktree;
  /** The variables of the task. */
  readonly env: Readonly<Record<string, string>>;
  /** Aborts with a `RunEnd`, or with the error of a lost lease. */
  readonly signal: AbortSignal;
  readonly time: TimeLimit;
}

export interface StageResult {
  readonly passed: boolean;
  /** Why the stage failed. The agent that has to fix it gets this text. */
  readonly message?: string | undefined;
}

/** The position of a stage in its task. */
export interface StagePosition {
  readonly index: number;
  /** Counted from 1. */
  readonly attempt: number;
}
