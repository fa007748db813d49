/** What the commands of a task's configuration get of the environment: set-up, stages and gates. */
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

/** For git, whose filters a repository chooses: no configuration passes anything on to it. */
export async function gitVariables(parts: PoolParts, repository: string): Promise<EnvironmentVariables> {
  const config = await parts.config(repository).catch(() => undefined); // whether it may be used is decided elsewhere
  return childEnvironment(parts.env, { keys: config === undefined ? [] : keyVariableNames(config) });
}
