/** Finds the agent that the first prompt of a new conversation starts, without starting it. */
import type { EnvironmentVariables } from "../../../stdx/environment.ts";
import type { ChatSettings } from "../connection.ts";
import type { ChatState } from "../conversation/fold.ts";

export interface FirstAgent {
  readonly state: Pick<ChatState, "agent" | "backend" | "model" | "permissions">;
  /** What the agent needs before it can start. Undefined if it is ready. */
  readonly missing: string | undefined;
  /** Whether another agent is ready, or the person has chosen this one. */
  readonly isChosen: boolean;
}

/** Rejects if the configuration has errors or lacks the agent. */
export async function findFirstAgent(
  settings: ChatSettings,
  place: { readonly cwd: string; readonly env: EnvironmentVariables },
): Promise<FirstAgent> {
  const [{ loadConfig, resolveAgent }, { checkReadiness, readyAgents, withReadyDefault }] = await Promise.all([
    import("../../../config/load.ts"),
    import("../../../backends/readiness.ts"),
  ]);
  const config = withReadyDefault(await loadConfig({ ...place, trust: "leave_out" }), place);
  const agent = resolveAgent(config, settings.agent);
  const { name, backend, model } = agent;
  const { missing } = checkReadiness(agent, { ...place, providers: config.providers });
  const isChosen = settings.agent !== undefined || readyAgents(config, place).length > 0;
  const { permissions } = settings;
  return { state: { agent: name, backend, model: settings.model ?? model, permissions }, missing, isChosen };
}
