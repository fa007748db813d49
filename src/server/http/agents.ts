/** Lists the agents available in a folder, with the program that each one needs. */
import { join } from "node:path";
import type { FoundProgram } from "../../backends/installed/index.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";

export interface AgentsQuery {
  readonly cwd: string;
}

export interface AgentRow {
  readonly name: string;
  readonly backend: string;
  readonly model?: string | undefined;
  readonly isDefault: boolean;
  readonly builtIn: boolean;
  readonly ready: boolean;
  /** What an agent that is not ready needs. */
  readonly missing?: string | undefined;
  /** Undefined if the agent needs no program. */
  readonly program?: FoundProgram | undefined;
}

/** Skips agents that an untrusted repository configures. Rejects with `config_invalid` or `cwd_missing`. */
export async function listAgents(
  { cwd }: AgentsQuery,
  { env, home }: { readonly env: EnvironmentVariables; readonly home: string },
): Promise<readonly AgentRow[]> {
  const [{ keyVariableNames, loadConfig }, { findPrograms }, { checkReadiness, withReadyDefault }] = await Promise.all([
    import("../../config/load.ts"),
    import("../../backends/installed/index.ts"),
    import("../../backends/readiness.ts"),
  ]);
  const config = withReadyDefault(await loadConfig({ cwd, env, trust: "leave_out" }), { env, cwd });
  const programs = await findPrograms(config.agents.values(), {
    env,
    cwd,
    keys: keyVariableNames(config),
    cacheFolder: join(home, "cache"),
  });
  const { providers } = config;
  return Array.from(config.agents.values(), (agent): AgentRow => {
    const { name, backend, model, builtIn } = agent;
    const { ready, missing } = checkReadiness(agent, { env, cwd, providers });
    const isDefault = name === config.defaults.agent;
    return { name, backend, model, isDefault, builtIn, ready, missing, program: programs.get(name) };
  });
}
