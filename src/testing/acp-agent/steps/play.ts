/** Runs the steps of a script in order. */

import type { AcpStep, AcpSteps } from "./steps.ts";
import type { AcpRecordEntry } from "../record.ts";
import type { StepContext, ScriptedAgentContext } from "../step-context.ts";
import { CALLBACK_STEPS } from "./callbacks.ts";
import { FAULT_STEPS } from "./faults.ts";
import { WAIT_STEPS } from "./waits.ts";
import { MCP_STEPS } from "./mcp/index.ts";
import { MESSAGE_STEPS } from "./say.ts";
import type { StepHandlers } from "./step-handlers.ts";

const STEP_HANDLERS: StepHandlers = {
  ...MESSAGE_STEPS,
  ...CALLBACK_STEPS,
  ...MCP_STEPS,
  ...WAIT_STEPS,
  ...FAULT_STEPS,
};

export interface StepContextOptions {
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal;
  readonly owed: AbortSignal;
}

export function openStepContext(
  agent: ScriptedAgentContext,
  { sessionId, signal, owed }: StepContextOptions,
): StepContext {
  const around = {
    agent,
    signal,
    waitSignal: AbortSignal.any([signal, agent.gone]),
    owedSignal: AbortSignal.any([owed, agent.gone]),
    consumed: { since: agent.record.entries.length, taken: new Set<AcpRecordEntry>() },
  };
  const contextFor = (session: string | undefined): StepContext => ({
    ...around,
    sessionId: session,
    play: (steps, other = session) => play(steps, contextFor(other)),
  });
  return contextFor(sessionId);
}

/** True if the step has exactly one key and the key is known. */
export function isStep(step: object): step is AcpStep {
  const [name = "", ...more] = Object.keys(step);
  return more.length === 0 && Object.hasOwn(STEP_HANDLERS, name);
}

async function play(steps: readonly AcpStep[], context: StepContext): Promise<void> {
  for (const step of steps) {
    context.signal.throwIfAborted();
    const [[name, what] = ["", undefined]] = Object.entries(step);
    await (STEP_HANDLERS[name as keyof AcpSteps] as (what: unknown, context: StepContext) => Promise<void>)(
      what,
      context,
    );
  }
}
