/** Builds the environment for the configured commands of a task: setup, stages and gates. */
import { keyVariableNames } from "../config/index.ts";
import { childEnvironment } from "../domain/child-environment.ts";
import type { EnvironmentVariables } from "../stdx/index.ts";
import type { PoolParts } from "./parts.ts";

/** Rejects with `not_trusted` or `config_invalid`. */
export async function commandEnvironment(
  parts: PoolParts,
  repository: string,
  taskVariables: Readonly<Record<string, string>>,
): Promise<EnvironmentVariables> {
  const config = await parts.config(repository);
  const env = childEnvironment(parts.env, { pass: config.worktree.passEnv, keys: keyVariableNames(config) });
  return { ...env, ...taskVariables };
}

/** Builds the environment for git. It ignores `pass_env`, because a repository chooses the filters that git runs. */
export async function gitVariables(parts: PoolParts, repository: string): Promise<EnvironmentVariables> {
  const config = await parts.config(repository).catch(() => undefined); // the caller checks trust
  return childEnvironment(parts.env, { keys: config === undefined ? [] : keyVariableNames(config) });
}
