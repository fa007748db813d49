/** The services that the pool needs from its owner. */
import type { Config } from "../config/index.ts";
import type { PermissionPolicy, Store } from "../domain/index.ts";
import type { BudgetOptions, LeaseTiming, Session } from "../session/index.ts";
import type { Clock } from "../stdx/index.ts";
import type { Repository } from "../worktrees/index.ts";

export interface PoolParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Default: 30 s, renewed every 10 s. */
  readonly leaseTiming?: LeaseTiming | undefined;
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

/** Opens a repository by any of its folders. Opens each repository only once, because its locks are shared. */
export type Repositories = (cwd: string) => Promise<Repository>;
