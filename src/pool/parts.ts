/** The services that the pool needs from its owner. */
import type { Config } from "../config/index.ts";
import type { PermissionPolicy, Store, TaskSpec } from "../domain/index.ts";
import type { BudgetOptions, LeaseTiming, Session } from "../session/index.ts";
import type { Clock } from "../stdx/index.ts";
import type { Mirror, Repository } from "../worktrees/index.ts";

export interface PoolParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Default: 30 s, renewed every 10 s. */
  readonly leaseTiming?: LeaseTiming | undefined;
  /** The ID of this host, if several hosts share the store. */
  readonly host?: string | undefined;
  /** How many tasks all processes of this host run at once. Default: no limit of the host. */
  readonly maxRunningOnHost?: number | undefined;
  /** Mirrors of remotes on this host, if several hosts share the store. */
  readonly mirrors?: MirrorSettings | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder with the port leases and the records of process owners. */
  readonly home: string;
  /** Returns the marker of this process, for the processes that it starts. */
  claim(): string;
  /** Resolves a path to an absolute one. Throws `cwd_missing`. */
  folder(path: string): string;
  openSession(options: TaskSessionOptions): Promise<Session>;
  /** Ends the turn of a session whose process died. */
  settleSession(sessionId: string): Promise<void>;
  /** Rejects with `not_trusted` or `config_invalid`. */
  config(cwd: string): Promise<Config>;
  /** Returns how many tasks may run at once in all repositories. Only the user's configuration sets it. */
  maxRunning(): Promise<number>;
  /** Labels that this process has without a worker record. Default: none. */
  readonly labels?: readonly string[] | undefined;
  /** Ends the child processes of killed processes. */
  sweep(): Promise<void>;
}

export interface TaskSessionOptions {
  readonly id?: string;
  readonly agent: string;
  readonly model?: string;
  readonly cwd: string;
  readonly permissions?: PermissionPolicy;
  readonly title: string;
  readonly task: string;
  readonly env: Readonly<Record<string, string>>;
  readonly taskBudget?: BudgetOptions["taskBudget"];
}

export interface MirrorSettings {
  /** The folder of the mirrors. */
  readonly root: string;
  /** Whether a new task of a repository with a remote can run on every host. */
  readonly forNewTasks: boolean;
  /** How often the work of a running task is saved, in milliseconds. */
  readonly saveMs: number;
  /** Copies the trust of a repository to its mirror, for files with the same content. */
  copyTrust(repository: string, mirror: string): Promise<void>;
}

/** A mirror and what a person should know about it. */
export interface TaskMirror extends Mirror {
  /** Returns the notices since the last call. */
  takeNotices(): readonly string[];
}

/** The repository in which a task has its worktree. */
export interface TaskRepository {
  readonly repository: Repository;
  /** Undefined if the task uses the repository of the user. */
  readonly mirror?: TaskMirror | undefined;
}

/** The parts of a task that say where its repository is. */
export type RepositorySpec = Pick<TaskSpec, "repository" | "remote">;

/** Opens repositories, each only once, because its locks are shared. */
export interface Repositories {
  /** Opens the user's repository by any of its folders. */
  at(cwd: string): Promise<Repository>;
  /** Opens the repository of a task. Rejects with `remote_unreachable` if its mirror does not exist and cannot be made. */
  of(spec: RepositorySpec): Promise<TaskRepository>;
}
