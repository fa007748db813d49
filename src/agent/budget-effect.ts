/**
 * The effect that asks a person for more when a budget is used up. The answer is journaled, so a crash does not repeat
 * the question.
 */
import { z } from "zod";
import {
  BUDGET_HOLDERS,
  BUDGET_UNITS,
  raisedKey,
  type EffectKey,
  type QuestionAnswer,
  type TurnContext,
  type TurnOutcome,
} from "../domain/index.ts";
import {
  findExceededAgentBudget,
  describeExceededBudget,
  computeRaisedLimit,
  type AgentBudget,
  type ExceededBudget,
} from "./budget.ts";
import type { TurnAgent } from "./turn-agent.ts";

const CHOICE_SAME_AGAIN = "as much again";
const CHOICE_NO_LIMIT = "without limit for this turn";
const CHOICE_STOP = "stop";
const CHOICES = [CHOICE_SAME_AGAIN, CHOICE_NO_LIMIT, CHOICE_STOP] as const;
/** The choices if the price is unknown: a raised dollar budget could not be enforced either. */
const CHOICES_UNKNOWN_PRICE = ["without it", CHOICE_STOP] as const;

const BudgetDecision = z.lazy(() => z.enum(["raised", "lifted", "stopped"]));
type BudgetDecision = "raised" | "lifted" | "stopped";

/**
 * Returns the outcome of the turn if a budget stops it, otherwise undefined. If the model was called for this step
 * before a crash (`isBegun`), the step continues as before, and earlier answers still apply.
 */
export async function enforceBudgets(
  agent: TurnAgent,
  turn: TurnContext,
  { step, isBegun }: { readonly step: number; readonly isBegun: boolean },
): Promise<TurnOutcome | undefined> {
  const agentBudget = { agentName: agent.name ?? "", budget: agent.budget, isPriced: agent.price !== undefined };
  const keyOf = (of: string, unit: string): EffectKey => {
    const { sessionId } = agent;
    return { sessionId, turnId: turn.turnId, step, kind: "wait", id: `budget.${of}.${unit}` };
  };
  for (const of of BUDGET_HOLDERS) {
    for (const unit of BUDGET_UNITS) {
      if (!turn.effects.isFinished(keyOf(of, unit))) continue;
      const decision = await readRecordedDecision(turn, keyOf(of, unit));
      if (decision === "lifted") agent.liftedBudgets.add(raisedKey(of, unit, agentBudget.agentName));
    }
  }
  if (isBegun) return undefined;
  for (;;) {
    const spent = turn.spent?.();
    const exceeded = spent && findExceededAgentBudget(agentBudget, spent, agent.liftedBudgets);
    if (exceeded === undefined) return undefined;
    const decision = await askForMore(turn, keyOf(exceeded.of, exceeded.unit), exceeded, agentBudget);
    if (decision === "lifted") agent.liftedBudgets.add(raisedKey(exceeded.of, exceeded.unit, agentBudget.agentName));
    if (decision === "stopped") return createBudgetFailure(exceeded, agent, { ...agentBudget, task: spent?.task });
  }
}

async function readRecordedDecision(turn: TurnContext, key: EffectKey): Promise<BudgetDecision> {
  const { value } = await turn.effects.run<BudgetDecision>({
    key,
    repeatable: true,
    perform: () => Promise.reject(new Error("the journal has the answer")),
    parse: (journalled) => BudgetDecision.parse(journalled),
  });
  return value;
}

async function askForMore(
  turn: TurnContext,
  key: EffectKey,
  exceeded: ExceededBudget,
  { agentName }: AgentBudget,
): Promise<BudgetDecision> {
  const isKnown = exceeded.used !== undefined;
  const choices = isKnown ? CHOICES : CHOICES_UNKNOWN_PRICE;
  const message = `${describeExceededBudget(exceeded, agentName)}: continue${isKnown ? "" : " without the budget"}?`;
  const choice = { type: "string", title: "Continue", enum: choices, default: choices[0] };
  const { value } = await turn.effects.run<BudgetDecision>({
    key,
    repeatable: true,
    perform: async () => {
      const answer = await turn.ask({ message, schema: { type: "object", properties: { how: choice } } });
      const decision = parseBudgetDecision(answer);
      const raised = {
        type: "budget.raised" as const,
        of: exceeded.of,
        unit: exceeded.unit,
        to: computeRaisedLimit(exceeded),
      };
      return { value: decision, events: decision === "raised" ? [raised] : [] };
    },
    parse: (journalled) => BudgetDecision.parse(journalled),
  });
  await turn.log.commit(); // a raise takes effect once it is in the log
  return value;
}

/** An accepting answer without a choice selects the first one. */
function parseBudgetDecision({ action, content }: QuestionAnswer): BudgetDecision {
  if (action !== "accept") return "stopped";
  const how = typeof content === "object" && content !== null && "how" in content ? content.how : undefined;
  return how === CHOICE_STOP ? "stopped" : how === CHOICE_NO_LIMIT ? "lifted" : "raised";
}

function createBudgetFailure(
  exceeded: ExceededBudget,
  { sessionId, model }: TurnAgent,
  agentBudget: AgentBudget & { task: string | undefined },
): TurnOutcome {
  const what = describeExceededBudget(exceeded, agentBudget.agentName);
  const price = `set a budget in tokens, or set the price under [prices."${model.name}"]`;
  const fix = exceeded.used === undefined ? price : describeFix(exceeded, sessionId, agentBudget);
  return { status: "failed", code: "budget_reached", message: `${what}, and nobody allowed more: ${fix}` };
}

function describeFix(
  { of }: ExceededBudget,
  sessionId: string,
  { agentName, task = "TASK" }: AgentBudget & { task: string | undefined },
): string {
  switch (of) {
    case "agent":
      return `raise [agents.${agentName}.budget]`;
    case "session":
      return `raise the budget and continue with: rookery run "continue" --session ${sessionId} --budget …`;
    case "task":
      return `raise the budget and continue with: rookery task resume ${task} --budget …`;
  }
}
