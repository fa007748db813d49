/** What all stages of a run share. */
import type { Repository, Worktree } from "../../worktrees/index.ts";
import type { PoolParts } from "../parts.ts";
import type { TimeLimit } from "../time-limit.ts";
import type { Pen } from "../pen.ts";

export interface Run {
  readonly parts: PoolParts;
  readonly pen: Pen;
  readonly repository: Repository;
  readonly worktree: Worktree;
  /** The variables of the task. */
  readonly env: Readonly<Record<string, string>>;
  /** Its reason is a `RunEnded`, or that someone else has the task. */
  readonly signal: AbortSignal;
  readonly time: TimeLimit;
}

export interface StageResult {
  readonly passed: boolean;
  /** Why not: what whoever mends it is told. */
  readonly message?: string | undefined;
}

/** Where a stage stands in its task. */
export interface Place {
  readonly index: number;
  /** How often it was begun, this time among them. */
  readonly attempt: number;
}
