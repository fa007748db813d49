/**
 * What a task may use. Where that is used up, the built-in agent asks a person for more; any other is stopped, with all it
 * has done, and a person may give it more.
 */
import { resolveAgent } from "../config/index.ts";
import { addUsage, NO_USAGE, workOf, type SessionState, type TaskState, type Usage } from "../domain/index.ts";
import { loadState, type BudgetOptions } from "../session/index.ts";
import { stopped, type RunEnded } from "./reasons.ts";
import type { Run } from "./stage/run.ts";

/** By the task's other sessions. */
export async function usedElsewhere(
  { parts, pen }: Pick<Run, "parts" | "pen">,
  sessionId: string | undefined,
): Promise<Usage> {
  const others = await parts.store.list({ task: pen.state.id });
  return others
    .filter(({ id }) => id !== sessionId)
    .reduce((sum, { usage }) => (usage === undefined ? sum : addUsage(sum, usage)), NO_USAGE);
}

/** What the session of an agent that asks by itself is to be opened with; undefined for any other. */
export async function budgetFor(
  run: Pick<Run, "parts" | "pen" | "worktree">,
  agent: string,
  sessionId: string | undefined,
): Promise<BudgetOptions["taskBudget"]> {
  const { parts, pen, worktree } = run;
  const { budget } = pen.state.spec;
  if (Object.keys(budget).length === 0) return undefined;
  if (resolveAgent(await parts.config(worktree.path), agent).backend !== "api") return undefined;
  const { inputTokens, outputTokens, costUsd } = await usedElsewhere(run, sessionId);
  const now = parts.clock.now();
  const worked = sessionId === undefined ? 0 : workOf((await loadState(parts.store, sessionId)).work, now).ranMs;
  const seconds = (ranSoFar(pen.state, now) - worked) / 1000;
  return { budget, elsewhere: { tokens: inputTokens + outputTokens, usd: costUsd, seconds } };
}

/** Of the time that the task has; undefined where it has no end. */
export function secondsLeft({ budgets, work }: SessionState): number | undefined {
  const { budget, elsewhere } = budgets.task ?? {};
  const raised = budgets.raised["task.seconds"];
  if (budget?.seconds === undefined || raised === null) return undefined;
  const used = (elsewhere?.seconds ?? 0) + workOf(work, Date.parse(work.since ?? "") || 0).ranMs / 1000;
  return Math.max(0, Math.max(budget.seconds, raised ?? 0) - used);
}

function ranSoFar({ ranMs, runningSince }: TaskState, now: number): number {
  return ranMs + (runningSince === undefined ? 0 : Math.max(0, now - Date.parse(runningSince)));
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
