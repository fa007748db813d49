/** Chooses the agent of a new task by what is ready in this environment. */
import { checkReadiness, readyAgents, withReadyDefault } from "../../backends/readiness.ts";
import { loadConfig, resolveAgent } from "../../config/index.ts";
import { RookeryError } from "../../domain/errors.ts";
import type { StartTask } from "../../domain/task/view.ts";
import { planTask } from "../../pool/index.ts";
import { taskAgents } from "../../server/http/required-agents.ts";
import type { Io } from "../io.ts";

/**
 * For a server of this machine: names the agent that `rookery run` would use, because the first agent that is ready in the
 * environment of the server may be another one. The server refuses it if it cannot run it.
 */
export async function nameDefaultAgent({ env }: Pick<Io, "env">, request: StartTask, cwd: string): Promise<StartTask> {
  if (request.agent !== undefined || request.pipeline !== undefined) return request;
  const config = await loadConfig({ cwd, env, trust: "leave_out" });
  if (config.defaults.agentChosen) return request;
  const [agent] = readyAgents(config, { env, cwd });
  return agent === undefined ? request : { ...request, agent };
}

/** For this process: rejects with `agent_not_ready` if an agent of the task cannot run here. */
export async function requireAgentsHere({ env }: Pick<Io, "env">, request: StartTask, cwd: string): Promise<StartTask> {
  const config = withReadyDefault(await loadConfig({ cwd, env }), { env, cwd });
  const here = { env, cwd, providers: config.providers };
  for (const { agent: name, model } of taskAgents(planTask(request, config.root, config))) {
    const agent = resolveAgent(config, name);
    const { lacks, missing } = checkReadiness({ ...agent, model: model ?? agent.model }, here);
    if (lacks === undefined || missing === undefined) continue;
    if (lacks === "program" && config.worktree.setup !== undefined) continue; // the setup may install it
    const [ready] = readyAgents(config, here);
    const instead = ready === undefined ? "" : `; or use an agent that is ready: --agent ${ready}`;
    const message = `cannot start the task: the agent ${agent.name} is not ready: ${missing}${instead}`;
    throw new RookeryError("agent_not_ready", message);
  }
  return request;
}
