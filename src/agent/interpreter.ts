/** Runs what the turn machine asks for, through the effect host, until the machine says how the turn ended. */
import type { LimitReached, TurnContext, TurnOutcome } from "../domain/index.ts";
import { ProviderError } from "../providers/index.ts";
import type { Artifact } from "../tools/index.ts";
import type { PlannedCall } from "./calls.ts";
import { summarize } from "./compact-effect.ts";
import { readConversation } from "./conversation.ts";
import { advance, begin, type TurnEffect, type TurnEvent } from "./machine.ts";
import { callModel, type Answered } from "./model-effect.ts";
import type { Acting } from "./open.ts";
import { rest } from "./rest-effect.ts";
import { prepareStep } from "./step-effect.ts";
import { runTool } from "./tool-effect.ts";

export async function interpretTurn(
  agent: Omit<Acting, "artifact" | "lifted" | "callIds">,
  given: TurnContext,
): Promise<TurnOutcome | LimitReached> {
  const artifact = agent.tools.artifact(); // for the whole turn: what the model was told of is what it can call
  const broken = new AbortController();
  const turn = { ...given, signal: AbortSignal.any([given.signal, broken.signal]) };
  const its = { turnId: turn.turnId, model: agent.model.name };
  const { messages, counted, callIds } = await readConversation(its, turn.history());
  const acting = { ...agent, artifact, lifted: new Set<string>(), callIds: new Set(callIds) };
  const terms = { input: turn.input, contextSize: agent.model.contextSize, retry: agent.retry };
  let { state, effects } = begin(messages, terms, counted);
  const running = new Set<Promise<TurnEvent>>();
  try {
    for (;;) {
      for (const effect of effects) {
        if (effect.type === "end") return effect.outcome;
        const work = perform(acting, turn, effect);
        running.add(work);
      }
      if (running.size === 0) throw new Error(`the turn stopped in ${state.phase} with nothing to do`);
      const [work, event] = await Promise.race(Array.from(running, async (one) => [one, await one] as const));
      running.delete(work);
      ({ state, effects } = advance(state, event));
    }
  } catch (error) {
    if (given.signal.aborted) return { status: "cancelled" };
    if (error instanceof ProviderError && error.limit !== undefined) return limited(error);
    broken.abort(error); // what runs beside it cannot be recorded either
    throw error;
  } finally {
    await Promise.allSettled(running);
  }
}

function limited({ message, limit }: ProviderError): LimitReached {
  return { status: "limited", message, resetsAt: limit?.resetsAt };
}

async function perform(
  agent: Acting,
  turn: TurnContext,
  effect: Exclude<TurnEffect, { type: "end" }>,
): Promise<TurnEvent> {
  if (turn.signal.aborted) return { type: "cancelled" };
  try {
    switch (effect.type) {
      case "prepare_step":
        return { type: "step_prepared", ...(await prepareStep(agent, turn, effect)) };
      case "call_model":
        return answered(await callModel(agent, turn, effect), agent.artifact);
      case "compact": {
        const summary = await summarize(agent, turn, effect);
        return typeof summary === "string"
          ? { type: "compacted", summary }
          : { type: "model_failed", ...summary.failed };
      }
      case "rest":
        await rest(agent, turn, effect);
        return { type: "rested" };
      case "run_tool":
        return { type: "tool_settled", answer: await runTool(agent, turn, effect.step, effect.call) };
    }
  } catch (error) {
    if (turn.signal.aborted) return { type: "cancelled" };
    throw error;
  }
}

function answered(answer: Answered, artifact: Artifact): TurnEvent {
  if ("failed" in answer) return { type: "model_failed", ...answer.failed };
  return { type: "model_replied", reply: { ...answer, calls: answer.calls.map((call) => planned(call, artifact)) } };
}

/** A server's own word is enough for this: it allows nothing. */
function planned(call: PlannedCall, { catalog }: Artifact): PlannedCall {
  const spec = catalog.get(call.name);
  const concurrent = spec === undefined || (spec.concurrent ?? (spec.readOnly || spec.hints?.readOnly === true));
  return { ...call, concurrent };
}
