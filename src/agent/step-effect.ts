/** Prepares a step: delivers input that arrived in the meantime, and checks the budgets. */
import { z } from "zod";
import {
  InputPart,
  isRookeryError,
  type EffectKey,
  type QueuedInput,
  type TurnContext,
  type TurnOutcome,
} from "../domain/index.ts";
import { enforceBudgets } from "./budget-effect.ts";
import type { TurnEffect } from "./machine.ts";
import type { TurnAgent } from "./turn-agent.ts";

export interface PreparedStep {
  readonly inputs: readonly (readonly InputPart[])[];
  readonly stop?: TurnOutcome | undefined;
  /** What the model was first called for in this step before a crash. */
  readonly begun?: "reply" | "summary" | undefined;
}

/** Built lazily: it is needed only after a crash. */
const Inputs = z.lazy(() => z.array(z.array(InputPart)));

/** A step that the model was called for before a crash is prepared exactly as it was then. */
export async function prepareStep(
  agent: TurnAgent,
  turn: TurnContext,
  { step, final }: Extract<TurnEffect, { type: "prepare_step" }>,
): Promise<PreparedStep> {
  const createKey = (kind: EffectKey["kind"], id: string) => ({
    sessionId: agent.sessionId,
    turnId: turn.turnId,
    step,
    kind,
    id,
  });
  await turn.log.commit(); // the results of the previous step are durable and counted before the model is paid again
  const key = createKey("input", "steer");
  const begun = (["summary", "reply"] as const).find((id) => turn.effects.isFinished(createKey("model", id)));
  const isBegun = begun !== undefined;
  const inputs = await takeInputs(turn, key, isBegun);
  if (final && inputs.length === 0) return { inputs };
  return { inputs, begun, stop: await enforceBudgets(agent, turn, { step, isBegun }) };
}

/** A person may withdraw an input at the same moment; the step then continues with the others. */
async function takeInputs(turn: TurnContext, key: EffectKey, isBegun: boolean): Promise<PreparedStep["inputs"]> {
  for (;;) {
    const waiting = turn.steering?.() ?? [];
    if (!turn.effects.isFinished(key) && (isBegun || waiting.length === 0)) return [];
    try {
      return await deliverInputs(turn, key, waiting);
    } catch (error) {
      if (!isRookeryError(error, "input_not_queued")) throw error;
    }
  }
}

async function deliverInputs(
  turn: TurnContext,
  key: EffectKey,
  waiting: readonly QueuedInput[],
): Promise<PreparedStep["inputs"]> {
  const { value } = await turn.effects.run<readonly (readonly InputPart[])[]>({
    key,
    repeatable: true,
    instant: true,
    refusable: true,
    perform: () =>
      Promise.resolve({
        value: waiting.map(({ input }) => input),
        events: waiting.map(({ inputId, input }) => ({ type: "input.delivered", inputId, input: [...input] })),
      }),
    parse: (journalled) => Inputs.parse(journalled),
  });
  return value;
}
