/** Refuses work for agents that cannot run in the environment of this server, before the work is accepted. */
import { checkReadiness, readyAgents, withReadyDefault, type Readiness } from "../../backends/readiness.ts";
import { configureDefinition, loadConfig, resolveAgent, type Config } from "../../config/index.ts";
import { RookeryError, type AgentDefinition, type TaskSpec } from "../../domain/index.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";

export interface RequiredAgent {
  /** Its name or its definition. Default: the default agent of the folder. */
  readonly agent?: string | AgentDefinition | undefined;
  readonly model?: string | undefined;
}

export interface AgentRequirement {
  readonly cwd: string;
  /** Whether a worktree is set up first, which may install the program of an agent. */
  readonly worktree: boolean;
  readonly agents: (config: Config) => readonly RequiredAgent[];
}

/** The process that runs the agents. */
export interface ServerProcess {
  readonly env: EnvironmentVariables;
  readonly pid: number;
  readonly startedAt: string;
}

/** Rejects with `agent_not_ready`, `agent_unknown`, `config_invalid`, `not_trusted` or `cwd_missing`. */
export async function requireReadyAgents(
  { cwd, worktree, agents }: AgentRequirement,
  server: ServerProcess,
): Promise<void> {
  const config = withReadyDefault(await loadConfig({ cwd, env: server.env }), { env: server.env, cwd });
  const here = { env: server.env, cwd, providers: config.providers };
  for (const { agent: named, model } of agents(config)) {
    const agent = typeof named === "object" ? configureDefinition(named, config) : resolveAgent(config, named);
    const { lacks, missing } = checkReadiness({ ...agent, model: model ?? agent.model }, here);
    if (lacks === undefined || missing === undefined) continue;
    if (lacks === "program" && worktree && config.worktree.setup !== undefined) continue;
    throw notReadyError({ name: agent.name, lacks, missing }, readyAgents(config, here), server);
  }
}

/** Returns the agents of all stages of a task. */
export function taskAgents({
  agent,
  model,
  stages,
}: Pick<TaskSpec, "agent" | "model" | "stages">): (RequiredAgent & { readonly agent: string })[] {
  return stages.flatMap((stage) => {
    if (stage.kind !== "agent") return [];
    return [{ agent: stage.agent, model: stage.model ?? (stage.agent === agent ? model : undefined) }];
  });
}

interface UnreadyAgent {
  readonly name: string;
  readonly lacks: NonNullable<Readiness["lacks"]>;
  readonly missing: string;
}

function notReadyError({ name, lacks, missing }: UnreadyAgent, ready: readonly string[], server: ServerProcess) {
  const { pid, startedAt } = server;
  const since = `${startedAt.slice(0, 16).replace("T", " ")} UTC`;
  const other = ready.filter((agent) => agent !== name).join(", ");
  const instead = other === "" ? "" : `, or choose an agent that is ready there: ${other}`;
  return new RookeryError(
    "agent_not_ready",
    `the server (process ${pid}, since ${since}) cannot run the agent ${name}: ${missing}. Its environment is the one it ` +
      `was started in, not your shell's: ${FIXES[lacks]} (stop it with kill ${pid}, then start it with rookery serve)${instead}`,
  );
}

const FIXES: Record<UnreadyAgent["lacks"], string> = {
  key: "restart it where the variable is set",
  login: "log in as its user, or restart it where the login is visible",
  program: "install the program, or restart it where the PATH contains it",
};
