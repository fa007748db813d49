/** Tasks as every interface shows them, and the operations on them. */
import type { Usage } from "../usage.ts";
import type { MergeOutcome } from "./events.ts";
import type { Budget } from "../budget-schema.ts";
import type { TaskStatus } from "../enums.ts";
import type { MergeHow } from "./spec.ts";
import type { FeedEvent } from "./store.ts";

export interface TaskView {
  readonly id: string;
  readonly title: string;
  readonly prompt: string;
  readonly status: TaskStatus;
  readonly repository: string;
  /** The host that runs the task or ran it last, if several hosts share the store. */
  readonly host?: string | undefined;
  readonly labels?: readonly string[] | undefined;
  /** The agent of the current stage. */
  readonly agent: string;
  readonly priority: number;
  readonly needs: readonly string[];
  /**
   * Number of files with uncommitted changes in the checkout, which are not in the worktree. Only in the result of
   * `start`, and only if the task starts from the current checkout.
   */
  readonly uncommitted?: number | undefined;
  readonly createdAt: string;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  /** Running time so far, in milliseconds. */
  readonly ranMs: number;
  readonly runs: number;
  readonly stage?: string | undefined;
  readonly stages: readonly string[];
  /** The sessions of the task, the newest last. */
  readonly sessions: readonly { readonly id: string; readonly stage: string }[];
  readonly worktree?:
    | {
        readonly path: string;
        readonly branch: string;
        readonly base: string;
        readonly baseCommit: string;
        readonly port?: number | undefined;
        /** The host that has it, if several hosts share the store. */
        readonly host?: string | undefined;
        /** The newest snapshot on the remote, from which another host can continue. */
        readonly saved?: string | undefined;
        readonly removed: boolean;
      }
    | undefined;
  /** Open requests. Answer them with `answer(sessionId, requestId, …)`. */
  readonly waitingFor: readonly { readonly sessionId: string; readonly requestId: string }[];
  /** The earliest start of a parked or delayed task. */
  readonly notBefore?: string | undefined;
  /** The reason for the status: a failure, or what it waits for. */
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly usage: Usage;
  /** The last line of the latest message, tool or output. */
  readonly lastLine?: string | undefined;
  readonly merge?:
    | {
        readonly how: MergeHow;
        readonly into: string;
        readonly outcome?: MergeOutcome | undefined;
        readonly commit?: string | undefined;
        readonly conflicts?: readonly string[] | undefined;
        readonly message?: string | undefined;
      }
    | undefined;
  readonly removed: boolean;
}

export interface StartTask {
  readonly prompt: string;
  /** Default: derived from the prompt. */
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  /** Any directory of the repository. Default: the working directory. */
  readonly cwd?: string | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly permissions?: "ask" | "read" | "all" | "none" | undefined;
  readonly base?: string | undefined;
  readonly priority?: number | undefined;
  readonly needs?: readonly string[] | undefined;
  readonly retries?: number | undefined;
  readonly budget?: Budget | undefined;
  /** A pipeline of `rookery.toml`. Default: one stage with the agent. */
  readonly pipeline?: string | undefined;
  /** Labels that a worker must have to run the task. */
  readonly labels?: readonly string[] | undefined;
}

export interface ResumeTask {
  /** A message for the agent, in addition to the request to continue. */
  readonly prompt?: string | undefined;
  readonly budget?: Budget | undefined;
}

export interface ListTasks {
  readonly status?: readonly TaskStatus[] | undefined;
  /** Any directory of the repository. */
  readonly cwd?: string | undefined;
  readonly agent?: string | undefined;
  /** Only tasks whose ID starts with this. */
  readonly idPrefix?: string | undefined;
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

export interface MergeTask {
  readonly how?: MergeHow | undefined;
  /** The target branch. Default: the base of the task. */
  readonly into?: string | undefined;
  /** A command that must pass on the merged result; `false` for none. Default: the configured one. */
  readonly gate?: string | false | undefined;
  readonly message?: string | undefined;
}

export interface MergeReport {
  readonly outcome: MergeOutcome;
  readonly how: MergeHow;
  readonly into: string;
  /** True if nothing was changed, and the report is a prediction. */
  readonly dryRun: boolean;
  readonly commit?: string | undefined;
  /** Conflicting files, relative to the root. */
  readonly conflicts: readonly string[];
  /** The number of commits to merge from the task's branch. */
  readonly commits: number;
  /** True if an earlier merge did it and the task has no changes since, so nothing was done now. */
  readonly already?: boolean | undefined;
  readonly message?: string | undefined;
}

export interface ChangedFile {
  readonly path: string;
  /** The previous path, if the file was moved. */
  readonly from?: string | undefined;
  readonly change: "added" | "modified" | "deleted" | "renamed" | "copied" | "type_changed" | "unmerged" | "untracked";
  readonly additions?: number | undefined;
  readonly deletions?: number | undefined;
  readonly binary: boolean;
}

export interface TaskCommit {
  readonly commit: string;
  readonly subject: string;
  readonly author: string;
  readonly at: string;
}

/** All differences from the base, committed or not. */
export interface TaskDiff {
  readonly base: string;
  readonly files: readonly ChangedFile[];
  readonly additions: number;
  readonly deletions: number;
  readonly commits: readonly TaskCommit[];
  /** True if there are uncommitted changes. */
  readonly uncommitted: boolean;
  /** The patch as git prints it, at most MAX_DIFF_BYTES. */
  readonly patch?: string | undefined;
  readonly truncated: boolean;
}

export interface RemovedTask {
  readonly id: string;
  /** Freed bytes. */
  readonly freed: number;
}

export interface CollectTasks {
  /** Only report what would be removed. */
  readonly dryRun?: boolean | undefined;
  /** Any directory of the repository. Default: all repositories that have tasks. */
  readonly cwd?: string | undefined;
  /**
   * The disk quota of all worktrees in bytes. Beyond it, merged and unused worktrees are removed, the oldest first; 0
   * removes all of those.
   */
  readonly quota?: number | undefined;
}

export interface CollectReport {
  readonly dryRun: boolean;
  readonly removed: readonly { readonly id: string; readonly path: string; readonly bytes: number }[];
  readonly kept: readonly {
    readonly id: string;
    readonly path: string;
    readonly bytes: number;
    readonly why: string;
  }[];
  readonly freed: number;
  readonly left: number;
}

/** The operations on tasks, of this process or of a server. */
export interface Tasks {
  /** Rejects with `task_exists`, `input_invalid`, `agent_unknown`, `repository_*`, `identity_missing`, `base_not_found`, `not_trusted`. */
  start(request: StartTask): Promise<TaskView>;
  list(query?: ListTasks): Promise<readonly TaskView[]>;
  /** Rejects with `task_not_found`. */
  show(id: string): Promise<TaskView>;
  /** Resolves when the task has stopped; its worktree stays. Rejects with `task_state` if it has ended. */
  stop(id: string, options?: { readonly reason?: string | undefined }): Promise<TaskView>;
  /** Continues in the same worktree and session. Rejects with `task_state` if the task has not ended. */
  resume(id: string, options?: ResumeTask): Promise<TaskView>;
  /** Rejects with `worktree_missing`. */
  diff(id: string, options?: { readonly patch?: boolean | undefined }): Promise<TaskDiff>;
  predictMerge(id: string, options?: MergeTask): Promise<MergeReport>;
  /** Queues a merge in the repository, and resolves when it is done or has failed. */
  merge(id: string, options?: MergeTask): Promise<MergeReport>;
  /**
   * Rejects with `worktree_unmerged` if changes would be lost and `force` is not set, or with `task_state` while the
   * task runs.
   */
  remove(id: string, options?: { readonly force?: boolean | undefined }): Promise<RemovedTask>;
  collect(options?: CollectTasks): Promise<CollectReport>;
  /** Yields events of the task and its sessions after a position of the feed, then waits for more. */
  follow(query: {
    readonly task?: string | undefined;
    readonly after?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  }): AsyncIterable<FeedEvent>;
}
