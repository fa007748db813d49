/** Starts the demo task: a real task of the built-in agent in a repository of its own, with a scripted model. */
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../config/index.ts";
import { RookeryError, type Tasks, type TaskView } from "../domain/index.ts";
import { DEMO_MODEL } from "../providers/demo/model.ts";
import { DEMO_PROMPT } from "../providers/demo/script.ts";
import type { EnvironmentVariables } from "../stdx/index.ts";
import { createDemoRepository } from "./repository.ts";

export interface DemoServices {
  readonly home: string;
  readonly env: EnvironmentVariables;
  /** Marks the processes that are started. */
  readonly marker: string;
  readonly tasks: Pick<Tasks, "start">;
}

/** Resolves with the queued task. Rejects with `git_missing`, `git_failed` or `config_invalid`. */
export async function startDemoTask({ home, env, marker, tasks }: DemoServices): Promise<TaskView> {
  const parent = join(home, "demo");
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const cwd = await mkdtemp(join(parent, "repository-"));
  await createDemoRepository(cwd, { env, marker });
  const { agents } = await loadConfig({ cwd, env });
  const agent = [...agents.values()].find(({ backend }) => backend === "api");
  if (agent === undefined) {
    throw new RookeryError(
      "config_invalid",
      "the demo needs the built-in agent, but your rookery.toml replaces all of them",
    );
  }
  return tasks.start({
    prompt: DEMO_PROMPT,
    title: "Demo: fix a failing test",
    cwd,
    agent: agent.name,
    model: DEMO_MODEL,
    permissions: "ask",
  });
}
