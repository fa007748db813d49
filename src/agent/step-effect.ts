/** Before each step: what was said to the agent meanwhile, and whether it may go on. */
import { z } from "zod";
import { InputPart, type EffectKey, type QueuedInput, type TurnContext, type TurnOutcome } from "../domain/index.ts";
import { keepBudgets } from "./budget-effect.ts";
import type { TurnEffect } from "./machine.ts";
import type { Acting } from "./open.ts";

export interface StepPrepared {
  readonly inputs: readonly (readonly InputPart[])[];
  readonly stop?: TurnOutcome | undefined;
  /** What the model was first asked for in it, before a crash. */
  readonly begun?: "reply" | "summary" | undefined;
}

/** Read back only after a crash, so built only then. */
const Inputs = z.lazy(() => z.array(z.array(InputPart)));

/** What the model was asked after it is fixed: a step that was asked before a crash is prepared as it was then. */
export async function prepareStep(
  agent: Acting,
  turn: TurnContext,
  { step, final }: Extract<TurnEffect, { type: "prepare_step" }>,
): Promise<StepPrepared> {
  const its = (kind: EffectKey["kind"], id: string) => ({
    sessionId: agent.sessionId,
    turnId: turn.turnId,
    step,
    kind,
    id,
  });
  await turn.log.commit(); // what came of the step before is durable, and counted, before the model is paid again
  const key = its("input", "steer");
  const waiting = turn.steering?.() ?? [];
  const begun = (["summary", "reply"] as const).find((id) => turn.effects.isFinished(its("model", id)));
  const isBegun = begun !== undefined;
  const isHeard = turn.effects.isFinished(key) || (!isBegun && waiting.length > 0);
  const inputs = isHeard ? await hear(turn, key, waiting) : [];
  if (final && inputs.length === 0) return { inputs };
  return { inputs, begun, stop: await keepBudgets(agent, turn, { step, isBegun }) };
}

async function hear(
  turn: TurnContext,
  key: EffectKey,
  waiting: readonly QueuedInput[],
): Promise<StepPrepared["inputs"]> {
  const { value } = await turn.effects.run<readonly (readonly InputPart[])[]>({
    key,
    repeatable: true,
    instant: true,
    perform: () =>
      Promise.resolve({
        value: waiting.map(({ input }) => input),
        events: waiting.map(({ inputId, input }) => ({ type: "input.delivered", inputId, input: [...input] })),
      }),
    parse: (journalled) => Inputs.parse(journalled),
  });
  return value;
}
