/** What the pool is made of. */
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
  /** Where ports are leased, and dead owners are known. */
  readonly home: string;
  /** A marker for what is started: the process that owns it. */
  claim(): string;
  /** An absolute path. Throws `cwd_missing`. */
  folder(path: string): string;
  openSession(options: TaskSessionOptions): Promise<Session>;
  /** Ends a turn that a dead process left. */
  settleSession(sessionId: string): Promise<void>;
  /** Rejects with `not_trusted` or `config_invalid`. */
  config(cwd: string): Promise<Config>;
  /** Of the user alone: how many tasks may run at once, in all repositories together. */
  maxRunning(): Promise<number>;
  /** Ends what killed processes left running. */
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

/** Opened once and shared: what they guard is in the repository's own folder. */
export type Repositories = (cwd: string) => Promise<Repository>;
