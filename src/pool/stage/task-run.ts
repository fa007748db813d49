/** Types that all stages of a run share. */
import type { Worktree } from "../../worktrees/index.ts";
import type { PoolParts, TaskRepository } from "../parts.ts";
import type { ProgressSaver } from "../remote/saver.ts";
import type { TimeLimit } from "../time-limit.ts";
import type { TaskWriter } from "../task-writer.ts";

export interface TaskRun extends TaskRepository {
  readonly parts: PoolParts;
  readonly writer: TaskWriter;
  /** Undefined if the task uses the repository of the user. */
  readonly saver?: ProgressSaver | undefined;
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
