/** Prepares the agent of a session: resolves its settings first, and connects to it when the session asks for it. */
import type { PrepareAgent } from "../session/index.ts";
import { connectAgent } from "./connect.ts";
import { requireRecordedProvider, resolveSettings } from "./resolve.ts";
import type { AgentOverrides, SharedServices } from "./services.ts";

/**
 * Returns the function that a session calls when it opens, and again for each change of its settings. The API URL and
 * key in `overrides` apply to the first agent that the session opens, and to no other.
 */
export function createAgentPreparer(services: SharedServices, overrides: AgentOverrides): PrepareAgent {
  let firstAgent: string | undefined;
  return async (state, changes) => {
    const resolved = await resolveSettings(services, overrides, state, changes);
    const { agent, config, settings, tools } = resolved;
    firstAgent ??= agent.name;
    const request = { state, resolved, overrides, firstAgent };
    if (overrides.toolsOnly !== true && changes.model === undefined) {
      const own = agent.name === firstAgent ? overrides : {};
      requireRecordedProvider(resolved, state, { ...own, registered: services.providers });
    }
    return {
      settings,
      connect: () => connectAgent(services, request),
      fingerprint: JSON.stringify([
        agent,
        tools.servers ?? [],
        config.tools,
        [...config.prices],
        [...config.providers],
      ]),
      timeLimits: { ...agent.stall, park: agent.parkLimit },
    };
  };
}
