/** Runs the effects of the turn machine through the effect host until the machine ends the turn. */
import type { LimitReached, TurnContext, TurnOutcome } from "../domain/index.ts";
import { ProviderError } from "../providers/index.ts";
import type { ToolSnapshot } from "../tools/index.ts";
import type { PlannedCall } from "./reply-calls.ts";
import { summarizeConversation } from "./compact-effect.ts";
import { readConversation } from "./conversation.ts";
import { advanceTurn, startTurnMachine, type TurnEffect, type TurnEvent } from "./machine.ts";
import { callModel, type ModelCallOutcome } from "./model-effect.ts";
import type { TurnAgent } from "./turn-agent.ts";
import { waitBeforeRetry } from "./retry-wait-effect.ts";
import { prepareStep } from "./step-effect.ts";
import { runTool } from "./tool-effect.ts";

export async function interpretTurn(
  agent: Omit<TurnAgent, "snapshot" | "offeredTools" | "liftedBudgets" | "callIds">,
  context: TurnContext,
): Promise<TurnOutcome | LimitReached> {
  const broken = new AbortController();
  const turn = { ...context, signal: AbortSignal.any([context.signal, broken.signal]) };
  const key = { turnId: turn.turnId, model: agent.model.name };
  const { messages, tokenCount, callIds } = await readConversation(key, turn.history());
  let turnAgent: TurnAgent = {
    ...agent,
    snapshot: agent.tools.snapshot(),
    offeredTools: new Set(),
    liftedBudgets: new Set(),
    callIds: new Set(callIds),
  };
  const parameters = { input: turn.input, contextSize: agent.model.contextSize, retry: agent.retry };
  let { state, effects } = startTurnMachine(messages, parameters, tokenCount);
  const running = new Set<Promise<TurnEvent>>();
  try {
    for (;;) {
      for (const effect of effects) {
        if (effect.type === "end") return effect.outcome;
        if (effect.type === "prepare_step") turnAgent = takeStepSnapshot(turnAgent);
        const work = performEffect(turnAgent, turn, effect);
        running.add(work);
      }
      if (running.size === 0) throw new Error(`the turn has no running effect in phase ${state.phase}`);
      const [work, event] = await Promise.race(Array.from(running, async (one) => [one, await one] as const));
      running.delete(work);
      ({ state, effects } = advanceTurn(state, event));
    }
  } catch (error) {
    if (context.signal.aborted) return { status: "cancelled" };
    if (error instanceof ProviderError && error.limit !== undefined) return createLimitReached(error);
    broken.abort(error); // the effects that run concurrently cannot be recorded either
    throw error;
  } finally {
    await Promise.allSettled(running);
  }
}

/**
 * Takes the current tools for the next step, so that a change reaches the model there. They stay the same within the
 * step: the model can call exactly the tools that it was offered.
 */
function takeStepSnapshot(agent: TurnAgent): TurnAgent {
  for (const name of agent.snapshot.catalog.keys()) agent.offeredTools.add(name);
  return { ...agent, snapshot: agent.tools.snapshot() };
}

function createLimitReached({ message, limit }: ProviderError): LimitReached {
  return { status: "limited", message, resetsAt: limit?.resetsAt };
}

async function performEffect(
  agent: TurnAgent,
  turn: TurnContext,
  effect: Exclude<TurnEffect, { type: "end" }>,
): Promise<TurnEvent> {
  if (turn.signal.aborted) return { type: "cancelled" };
  try {
    switch (effect.type) {
      case "prepare_step":
        return { type: "step_prepared", ...(await prepareStep(agent, turn, effect)) };
      case "call_model":
        return createModelEvent(await callModel(agent, turn, effect), agent.snapshot);
      case "compact": {
        const summary = await summarizeConversation(agent, turn, effect);
        return typeof summary === "string"
          ? { type: "compacted", summary }
          : { type: "model_failed", ...summary.failed };
      }
      case "wait":
        await waitBeforeRetry(agent, turn, effect);
        return { type: "waited" };
      case "run_tool":
        return { type: "tool_settled", answer: await runTool(agent, turn, effect.step, effect.call) };
    }
  } catch (error) {
    if (turn.signal.aborted) return { type: "cancelled" };
    throw error;
  }
}

function createModelEvent(answer: ModelCallOutcome, snapshot: ToolSnapshot): TurnEvent {
  if ("failed" in answer) return { type: "model_failed", ...answer.failed };
  return { type: "model_replied", reply: { ...answer, calls: answer.calls.map((call) => planCall(call, snapshot)) } };
}

/** The server's own hint is sufficient here, because it grants no permission. */
function planCall(call: PlannedCall, { catalog }: ToolSnapshot): PlannedCall {
  const spec = catalog.get(call.name);
  const concurrent = spec === undefined || (spec.concurrent ?? (spec.readOnly || spec.hints?.readOnly === true));
  return { ...call, concurrent };
}
