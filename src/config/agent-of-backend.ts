/** Chooses the agent that drives a session of a certain program. */
import { RookeryError } from "../domain/errors.ts";
import type { BackendKind } from "../domain/enums.ts";
import type { Config } from "./load.ts";

/**
 * Returns the name of the default agent if it has this backend, or of the first agent that has it; the agents of the
 * repository come first. Throws `agent_unknown` if the configuration gives every built-in one another backend.
 */
export function findAgentOfBackend(
  { agents, defaults }: Pick<Config, "agents" | "defaults">,
  backend: BackendKind,
): string {
  if (agents.get(defaults.agent)?.backend === backend) return defaults.agent;
  const found = [...agents.values()].find((agent) => agent.backend === backend);
  if (found !== undefined) return found.name;
  throw new RookeryError("agent_unknown", `no agent has the backend "${backend}": add one to rookery.toml`);
}
