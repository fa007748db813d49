/** What a task may use: where that is used up it is stopped, with all it has done, and a person may give it more. */
import { addUsage, NO_USAGE, type TaskState, type Usage } from "../domain/index.ts";
import { stopped, type RunEnded } from "./reasons.ts";
import type { Run } from "./stage/run.ts";

/** By the task's other sessions. */
export async function usedElsewhere({ parts, pen }: Pick<Run, "parts" | "pen">, sessionId: string): Promise<Usage> {
  const others = await parts.store.list({ task: pen.state.id });
  return others
    .filter(({ id }) => id !== sessionId)
    .reduce((sum, { usage }) => (usage === undefined ? sum : addUsage(sum, usage)), NO_USAGE);
}

/** The end of the run, where more was used than the task may. What nobody knows the price of counts for nothing. */
export function refuseOverBudget({ id, spec }: TaskState, elsewhere: Usage, here: Usage): RunEnded | undefined {
  const { tokens, usd } = spec.budget;
  const used = addUsage(elsewhere, here);
  const count = used.inputTokens + used.outputTokens;
  if (tokens !== undefined && count > tokens) return spent(id, `${count} of ${tokens} tokens`);
  const cost = (elsewhere.costUsd ?? 0) + (here.costUsd ?? 0);
  if (usd !== undefined && cost > usd) return spent(id, `$${cost.toFixed(2)} of $${usd.toFixed(2)}`);
  return undefined;
}

/** Milliseconds that it may still run; undefined where there is no limit. */
export function timeLeft({ spec, ranMs }: TaskState): number | undefined {
  return spec.budget.seconds === undefined ? undefined : Math.max(0, spec.budget.seconds * 1000 - ranMs);
}

export function spent(id: string, what: string): RunEnded {
  const fix = `give it more, and go on: rookery task resume ${id} --budget …`;
  return stopped(`its budget is used up (${what}): ${fix}`, "budget_reached");
}
