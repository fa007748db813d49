/** What commands and prompts of a task can use: as environment variables, and as placeholders. */
import type { EnvironmentVariables } from "../../stdx/index.ts";

export interface TaskValues {
  /** The ID of the task. */
  readonly task: string;
  readonly branch: string;
  /** The branch, or else the commit, that the task started from. */
  readonly base: string;
  /** The absolute path of the worktree. */
  readonly worktree: string;
  /** The port that is leased to the task. Undefined if the configuration turns ports off. */
  readonly port?: string | undefined;
}

export type TaskPlaceholder = keyof TaskValues;

/** The variables that describe a task to its agents and commands. `PORT` is the name that many servers read. */
export function taskVariables({ task, branch, base, worktree, port }: TaskValues): Readonly<Record<string, string>> {
  return {
    ROOKERY_TASK: task,
    ROOKERY_BRANCH: branch,
    ROOKERY_BASE: base,
    ROOKERY_WORKTREE: worktree,
    ...(port !== undefined && { ROOKERY_PORT: port, PORT: port }),
  };
}

/** The inverse of `taskVariables`. Returns undefined if the variables describe no task. */
export function readTaskVariables(env: EnvironmentVariables): TaskValues | undefined {
  const { ROOKERY_TASK: task, ROOKERY_BRANCH: branch, ROOKERY_BASE: base, ROOKERY_WORKTREE: worktree } = env;
  if (task === undefined || branch === undefined || base === undefined || worktree === undefined) return undefined;
  return { task, branch, base, worktree, port: env["ROOKERY_PORT"] };
}
