/** Runs what the turn machine asks for, through the effect host, until the machine says how the turn ended. */
import { isRookeryError, messageOf, type TurnContext, type TurnOutcome } from "../domain/index.ts";
import { conversationBefore } from "./conversation.ts";
import { advance, begin, type TurnEffect, type TurnEvent } from "./machine.ts";
import { callModel } from "./model-effect.ts";
import type { Acting } from "./open.ts";
import { runTool } from "./tool-effect.ts";

export async function interpretTurn(agent: Omit<Acting, "artifact">, turn: TurnContext): Promise<TurnOutcome> {
  const artifact = agent.tools.artifact(); // for the whole turn: what the model was told of is what it can call
  let { state, effects } = begin(await conversationBefore(turn.turnId, turn.history()));
  for (;;) {
    const [effect] = effects;
    if (effect === undefined) throw new Error(`the turn stopped in ${state.phase} with nothing to do`);
    if (effect.type === "end") return effect.outcome;
    ({ state, effects } = advance(state, await perform({ ...agent, artifact }, turn, effect)));
  }
}

async function perform(
  agent: Acting,
  turn: TurnContext,
  effect: Exclude<TurnEffect, { type: "end" }>,
): Promise<TurnEvent> {
  if (turn.signal.aborted) return { type: "cancelled" };
  try {
    switch (effect.type) {
      case "call_model":
        return { type: "model_replied", reply: await callModel(agent, turn, effect.step, effect.messages) };
      case "run_tool":
        return { type: "tool_settled", answer: await runTool(agent, turn, effect.step, effect.call) };
    }
  } catch (error) {
    if (turn.signal.aborted) return { type: "cancelled" };
    if (!isRookeryError(error) || !isProviderCode(error.code)) throw error;
    return { type: "model_failed", code: error.code, message: messageOf(error) };
  }
}

function isProviderCode(code: string): boolean {
  return code.startsWith("provider_") || code.startsWith("model_");
}
