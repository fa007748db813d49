/** Opens a session. If the agent has no key, the error also names the agents that are ready. */
import { loadConfig } from "../../config/load.ts";
import { isRookeryError, RookeryError } from "../../domain/errors.ts";
import { type ReadinessContext, readyAgents } from "../../backends/readiness.ts";

export async function withAgentSuggestions<T>(here: ReadinessContext, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    if (!isRookeryError(cause, "provider_unconfigured")) throw cause;
    const config = await loadConfig({ ...here, trust: "leave_out" });
    const [first, ...more] = readyAgents(config, here);
    if (first === undefined) throw cause;
    const others = more.length === 0 ? "" : ` (or ${more.join(", ")})`;
    throw new RookeryError(cause.code, `${cause.message}; or use a ready agent: --agent ${first}${others}`, { cause });
  }
}
