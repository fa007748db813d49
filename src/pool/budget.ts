/**
 * Enforces the budget of a task. When it is used up, the built-in agent asks the user for more. Any other agent is
 * stopped; its work is kept, and the user can resume the task with a larger budget.
 */
import { resolveAgent } from "../config/index.ts";
import { addUsage, NO_USAGE, workOf, type SessionState, type TaskState, type Usage } from "../domain/index.ts";
import { loadState, type BudgetOptions } from "../session/index.ts";
import { runStopped, type RunEnd } from "./run-end.ts";
import type { TaskRun } from "./stage/task-run.ts";

/** Returns the usage of the task's sessions other than `sessionId`. */
export async function sumOtherUsage(
  { parts, writer }: Pick<TaskRun, "parts" | "writer">,
  sessionId: string | undefined,
): Promise<Usage> {
  const others = await parts.store.list({ task: writer.state.id });
  return others
    .filter(({ id }) => id !== sessionId)
    .reduce((sum, { usage }) => (usage === undefined ? sum : addUsage(sum, usage)), NO_USAGE);
}

/** Returns the budget to open the session with. Undefined unless the agent enforces its budget itself. */
export async function taskBudgetFor(
  run: Pick<TaskRun, "parts" | "writer" | "worktree">,
  agent: string,
  sessionId: string | undefined,
): Promise<BudgetOptions["taskBudget"]> {
  const { parts, writer, worktree } = run;
  const { budget } = writer.state.spec;
  if (Object.keys(budget).length === 0) return undefined;
  if (resolveAgent(await parts.config(worktree.path), agent).backend !== "api") return undefined;
  const { inputTokens, outputTokens, costUsd } = await sumOtherUsage(run, sessionId);
  const now = parts.clock.now();
  const worked = sessionId === undefined ? 0 : workOf((await loadState(parts.store, sessionId)).work, now).ranMs;
  const seconds = (elapsedMs(writer.state, now) - worked) / 1000;
  return { budget, elsewhere: { tokens: inputTokens + outputTokens, usd: costUsd, seconds } };
}

/** Returns the seconds left in the task's budget, or undefined if it has no time limit. */
export function secondsLeft({ budgets, work }: SessionState): number | undefined {
  const { budget, elsewhere } = budgets.task ?? {};
  const raised = budgets.raised["task.seconds"];
  if (budget?.seconds === undefined || raised === null) return undefined;
  const used = (elsewhere?.seconds ?? 0) + workOf(work, Date.parse(work.since ?? "") || 0).ranMs / 1000;
  return Math.max(0, Math.max(budget.seconds, raised ?? 0) - used);
}

function elapsedMs({ ranMs, runningSince }: TaskState, now: number): number {
  return ranMs + (runningSince === undefined ? 0 : Math.max(0, now - Date.parse(runningSince)));
}

/** Returns how the run ends if the task is over its budget, else undefined. Usage without a known price counts as $0. */
export function findExceededTaskBudget({ id, spec }: TaskState, elsewhere: Usage, here: Usage): RunEnd | undefined {
  const { tokens, usd } = spec.budget;
  const used = addUsage(elsewhere, here);
  const count = used.inputTokens + used.outputTokens;
  if (tokens !== undefined && count > tokens) return budgetReached(id, `${count} of ${tokens} tokens`);
  const cost = (elsewhere.costUsd ?? 0) + (here.costUsd ?? 0);
  if (usd !== undefined && cost > usd) return budgetReached(id, `$${cost.toFixed(2)} of $${usd.toFixed(2)}`);
  return undefined;
}

/** Returns the milliseconds that the task may still run, or undefined if there is no limit. */
export function remainingMs({ spec, ranMs }: TaskState): number | undefined {
  return spec.budget.seconds === undefined ? undefined : Math.max(0, spec.budget.seconds * 1000 - ranMs);
}

export function budgetReached(id: string, what: string): RunEnd {
  const fix = `to continue, run rookery task resume ${id} --budget …`;
  return runStopped(`the task's budget is used up (${what}); ${fix}`, "budget_reached");
}
