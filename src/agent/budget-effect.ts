/** The effect of asking a person for more where a budget is used up: once, whatever crashes, and remembered. */
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
import { overdrawn, overdrawnWords, raisedTo, type Drawing, type Overdrawn } from "./budget.ts";
import type { Acting } from "./open.ts";

const AGAIN = "as much again";
const WITHOUT = "without limit for this turn";
const STOP = "stop";
const HOW = [AGAIN, WITHOUT, STOP] as const;
/** Where nobody knows what it costs, there is no such thing as more of it. */
const HOW_UNKNOWN = ["without it", STOP] as const;

const Verdict = z.lazy(() => z.enum(["raised", "lifted", "stopped"]));
type Verdict = "raised" | "lifted" | "stopped";

/**
 * How the turn ends, where it may not go on. A step that the model was asked for before a crash is let through as it
 * was then, and what was answered before it holds on: `isBegun` says that it was.
 */
export async function keepBudgets(
  agent: Acting,
  turn: TurnContext,
  { step, isBegun }: { readonly step: number; readonly isBegun: boolean },
): Promise<TurnOutcome | undefined> {
  const drawing = { agentName: agent.name ?? "", budget: agent.budget, isPriced: agent.price !== undefined };
  const keyOf = (of: string, unit: string): EffectKey => {
    const { sessionId } = agent;
    return { sessionId, turnId: turn.turnId, step, kind: "wait", id: `budget.${of}.${unit}` };
  };
  for (const of of BUDGET_HOLDERS) {
    for (const unit of BUDGET_UNITS) {
      if (!turn.effects.isFinished(keyOf(of, unit))) continue;
      const verdict = await remembered(turn, keyOf(of, unit));
      if (verdict === "lifted") agent.lifted.add(raisedKey(of, unit, drawing.agentName));
    }
  }
  if (isBegun) return undefined;
  for (;;) {
    const spent = turn.spent?.();
    const over = spent && overdrawn(drawing, spent, agent.lifted);
    if (over === undefined) return undefined;
    const verdict = await asked(turn, keyOf(over.of, over.unit), over, drawing);
    if (verdict === "lifted") agent.lifted.add(raisedKey(over.of, over.unit, drawing.agentName));
    if (verdict === "stopped") return ended(over, agent, { ...drawing, task: spent?.task });
  }
}

async function remembered(turn: TurnContext, key: EffectKey): Promise<Verdict> {
  const { value } = await turn.effects.run<Verdict>({
    key,
    repeatable: true,
    perform: () => Promise.reject(new Error("what was answered is in the journal")),
    parse: (journalled) => Verdict.parse(journalled),
  });
  return value;
}

async function asked(turn: TurnContext, key: EffectKey, over: Overdrawn, { agentName }: Drawing): Promise<Verdict> {
  const isKnown = over.used !== undefined;
  const choices = isKnown ? HOW : HOW_UNKNOWN;
  const message = `${overdrawnWords(over, agentName)}: go on${isKnown ? "" : " without it"}?`;
  const how = { type: "string", title: "Go on", enum: choices, default: choices[0] };
  const { value } = await turn.effects.run<Verdict>({
    key,
    repeatable: true,
    perform: async () => {
      const answer = await turn.ask({ message, schema: { type: "object", properties: { how } } });
      const verdict = verdictOf(answer);
      const raised = { type: "budget.raised" as const, of: over.of, unit: over.unit, to: raisedTo(over) };
      return { value: verdict, events: verdict === "raised" ? [raised] : [] };
    },
    parse: (journalled) => Verdict.parse(journalled),
  });
  await turn.log.commit(); // what was raised counts once it is in the log
  return value;
}

/** An answer that says nothing more than yes takes the first choice. */
function verdictOf({ action, content }: QuestionAnswer): Verdict {
  if (action !== "accept") return "stopped";
  const how = typeof content === "object" && content !== null && "how" in content ? content.how : undefined;
  return how === STOP ? "stopped" : how === WITHOUT ? "lifted" : "raised";
}

function ended(
  over: Overdrawn,
  { sessionId, model }: Acting,
  drawing: Drawing & { task: string | undefined },
): TurnOutcome {
  const what = overdrawnWords(over, drawing.agentName);
  const price = `set one in tokens, or the price under [prices."${model.name}"]`;
  const fix = over.used === undefined ? price : more(over, sessionId, drawing);
  return { status: "failed", code: "budget_reached", message: `${what}, and nobody allowed more: ${fix}` };
}

function more(
  { of }: Overdrawn,
  sessionId: string,
  { agentName, task = "TASK" }: Drawing & { task: string | undefined },
): string {
  switch (of) {
    case "agent":
      return `give it more under [agents.${agentName}.budget]`;
    case "session":
      return `give it more, and go on: rookery run "go on" --session ${sessionId} --budget …`;
    case "task":
      return `give it more, and go on: rookery task resume ${task} --budget …`;
  }
}
