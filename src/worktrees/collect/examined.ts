/** Types of the worktree examination. */
import type { Worktree } from "../record.ts";

/** What the log of a task records. */
export interface ExaminedTask {
  readonly id: string;
  readonly branch: string;
  readonly base: string;
  readonly into?: string | undefined;
  /** True while the task runs, waits or merges. */
  readonly inUse: boolean;
  readonly endedAt?: string | undefined;
  /** Head of its branch when it was merged, and the resulting commit. A squash or rebase leaves no other trace. */
  readonly mergedTip?: string | undefined;
  readonly mergedAs?: string | undefined;
}

export interface ExaminedWorktree {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  /** Number of uncommitted files. */
  readonly uncommitted: number;
  /** Number of unmerged commits. */
  readonly unmerged: number;
  readonly inUse: boolean;
  /** True if no task owns it. */
  readonly orphan: boolean;
  /** Time of last use, in milliseconds since the epoch. */
  readonly lastUsed: number;
  /** Why it is kept. Undefined if it can be removed. */
  readonly why?: string | undefined;
  /** Set if it can be removed. */
  readonly worktree?: Worktree | undefined;
  readonly into?: string | undefined;
  readonly mergedTip?: string | undefined;
}
