/** What every door shows of a task, and what can be done with tasks through it. */
import type { Usage } from "../usage.ts";
import type { MergeOutcome } from "./events.ts";
import type { Budget } from "../budget.ts";
import type { TaskStatus } from "../enums.ts";
import type { MergeHow } from "./spec.ts";
import type { FeedEvent } from "./store.ts";

export interface TaskView {
  readonly id: string;
  readonly title: string;
  readonly prompt: string;
  readonly status: TaskStatus;
  readonly repository: string;
  /** Of the stage it is in. */
  readonly agent: string;
  readonly priority: number;
  readonly needs: readonly string[];
  readonly createdAt: string;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  /** In milliseconds, until now. */
  readonly ranMs: number;
  readonly runs: number;
  readonly stage?: string | undefined;
  readonly stages: readonly string[];
  /** The newest last. */
  readonly sessions: readonly { readonly id: string; readonly stage: string }[];
  readonly worktree?:
    | {
        readonly path: string;
        readonly branch: string;
        readonly base: string;
        readonly baseCommit: string;
        readonly port?: number | undefined;
        readonly removed: boolean;
      }
    | undefined;
  /** What a person is asked: answered with `answer(sessionId, requestId, …)`. */
  readonly waitingFor: readonly { readonly sessionId: string; readonly requestId: string }[];
  /** Of a parked or delayed one. */
  readonly notBefore?: string | undefined;
  /** Why it is as it is: the failure, the reason to wait. */
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly usage: Usage;
  /** What was last said or done in it. */
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
  /** Made from the prompt if not said. */
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  /** Any folder of the repository; the working folder if not said. */
  readonly cwd?: string | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly permissions?: "ask" | "read" | "all" | "none" | undefined;
  readonly base?: string | undefined;
  readonly priority?: number | undefined;
  readonly needs?: readonly string[] | undefined;
  readonly retries?: number | undefined;
  readonly budget?: Budget | undefined;
  /** A pipeline of `rookery.toml`; the agent alone if not said. */
  readonly pipeline?: string | undefined;
}

export interface ResumeTask {
  /** What to say to the agent beside "go on". */
  readonly prompt?: string | undefined;
  readonly budget?: Budget | undefined;
}

export interface ListTasks {
  readonly status?: readonly TaskStatus[] | undefined;
  /** Any folder of the repository. */
  readonly cwd?: string | undefined;
  readonly agent?: string | undefined;
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

export interface MergeTask {
  readonly how?: MergeHow | undefined;
  /** A branch; the base of the task if not said. */
  readonly into?: string | undefined;
  /** A command that must pass on the result; the configured one if not said, none for `false`. */
  readonly gate?: string | false | undefined;
  readonly message?: string | undefined;
}

export interface MergeReport {
  readonly outcome: MergeOutcome;
  readonly how: MergeHow;
  readonly into: string;
  /** Nothing was changed: this is what would happen. */
  readonly dryRun: boolean;
  readonly commit?: string | undefined;
  /** Files, relative to the root. */
  readonly conflicts: readonly string[];
  /** Of the task's branch, those that would go in. */
  readonly commits: number;
  readonly message?: string | undefined;
}

export interface ChangedFile {
  readonly path: string;
  /** Where it was before, if it was moved. */
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

/** All that differs from the base: committed or not. */
export interface TaskDiff {
  readonly base: string;
  readonly files: readonly ChangedFile[];
  readonly additions: number;
  readonly deletions: number;
  readonly commits: readonly TaskCommit[];
  /** Is there anything that is not committed? */
  readonly uncommitted: boolean;
  /** As git prints it, at most MAX_DIFF_BYTES of it. */
  readonly patch?: string | undefined;
  readonly truncated: boolean;
}

export interface RemovedTask {
  readonly id: string;
  /** Bytes that are free now. */
  readonly freed: number;
}

export interface CollectTasks {
  /** Only say what would be removed. */
  readonly dryRun?: boolean | undefined;
  /** Any folder of the repository; all repositories that have tasks if not said. */
  readonly cwd?: string | undefined;
  /** Bytes that all worktrees together may have before what is merged and unused goes, the oldest first; 0: all of that. */
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

/** Tasks as a door has them: those of this process's log, or of a server. */
export interface Tasks {
  /** Rejects with `task_exists`, `input_invalid`, `agent_unknown`, `repository_*`, `identity_missing`, `base_not_found`, `not_trusted`. */
  start(request: StartTask): Promise<TaskView>;
  list(query?: ListTasks): Promise<readonly TaskView[]>;
  /** By its id. Rejects with `task_not_found`. */
  show(id: string): Promise<TaskView>;
  /** Resolves when nothing of it runs any more; its worktree stays. Rejects with `task_state` where it has ended. */
  stop(id: string, options?: { readonly reason?: string | undefined }): Promise<TaskView>;
  /** Goes on in the same worktree and session. Rejects with `task_state` where it has not ended. */
  resume(id: string, options?: ResumeTask): Promise<TaskView>;
  /** Rejects with `worktree_missing`. */
  diff(id: string, options?: { readonly patch?: boolean | undefined }): Promise<TaskDiff>;
  predictMerge(id: string, options?: MergeTask): Promise<MergeReport>;
  /** Takes its place in the queue of the repository, and resolves when it was done or could not be. */
  merge(id: string, options?: MergeTask): Promise<MergeReport>;
  /** Rejects with `worktree_unmerged` where something would be lost and `force` is not said, or `task_state` while it runs. */
  remove(id: string, options?: { readonly force?: boolean | undefined }): Promise<RemovedTask>;
  collect(options?: CollectTasks): Promise<CollectReport>;
  /** Events of the task and its sessions after a position of the feed, then what comes. */
  follow(query: {
    readonly task?: string | undefined;
    readonly after?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  }): AsyncIterable<FeedEvent>;
}
