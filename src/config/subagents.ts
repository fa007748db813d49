/** Converts an agent's `subagents` table to limits. */
import { SUBAGENT_LIMITS, type SubagentLimits } from "../domain/children.ts";
import type { AgentTable } from "../domain/agent-table.ts";

export function toSubagentLimits(table: AgentTable["subagents"]): SubagentLimits | false {
  if (table === false) return false;
  if (table === undefined || table === true) return SUBAGENT_LIMITS;
  return {
    maxDepth: table.max_depth ?? SUBAGENT_LIMITS.maxDepth,
    maxWidth: table.max_width ?? SUBAGENT_LIMITS.maxWidth,
    maxRunning: table.max_running ?? SUBAGENT_LIMITS.maxRunning,
    budgetUsd: table.budget_usd,
    budgetTokens: table.budget_tokens,
  };
}
