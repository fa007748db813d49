/** Cancels a prompt immediately after sending it, and while it runs. */
import { createCheckSession, openInitializedAgent, type InitializedAgent, type CheckContext } from "../context.ts";
import {
  runInterruptedPrompt,
  textBlock,
  formatTurn,
  type InterruptedTurn,
  type InterruptMoment,
} from "../prompt-turn.ts";
import { watchUpdates } from "../turn-updates.ts";

/** Several attempts, because the agent may finish before the cancel arrives. */
const MOMENTS: readonly InterruptMoment[] = ["running", "at_once", "running", "at_once"];
const MIN_ATTEMPTS = 2;

export async function checkCancel(context: CheckContext): Promise<void> {
  const { findings } = context;
  await using agent = await openInitializedAgent(context);
  if (agent === undefined) return;
  let cancelled = false;
  let last: InterruptedTurn | undefined;
  let ignored = 0;
  for (const [index, when] of MOMENTS.entries()) {
    if (cancelled && index >= MIN_ATTEMPTS) break;
    const turn = await cancelOnce(context, agent, when);
    if (turn === undefined) return;
    if (turn.outcome.kind !== "result") {
      findings.fail(11, formatTurn(turn));
      return;
    }
    cancelled ||= turn.stopReason === "cancelled";
    ignored += turn.ignored;
    last = turn;
  }
  findings.notSeen(12, "no prompt was answered as cancelled");
  if (cancelled) findings.pass(11);
  else if (last !== undefined && ignored >= 2) findings.fail(11, `the prompt was cancelled, but ${formatTurn(last)}`);
  else findings.notSeen(11, "every prompt ended before it could be cancelled; use a slower prompt");
}

/** Undefined, with a finding recorded, if no session could be created. */
async function cancelOnce(
  context: CheckContext,
  agent: InitializedAgent,
  when: InterruptMoment,
): Promise<InterruptedTurn | undefined> {
  const { findings, slowPrompt, settleMs } = context;
  const { peer } = agent;
  const session = await createCheckSession(context, agent);
  if (session === undefined) return undefined;
  const sessionId = session.id;
  using updates = watchUpdates(peer, "session/prompt", sessionId);
  const turn = await runInterruptedPrompt(peer, sessionId, [textBlock(slowPrompt)], {
    when,
    interrupt: () => peer.notify("session/cancel", { sessionId }),
    settleMs,
  });
  if (turn.stopReason !== "cancelled") return turn;
  await peer.settle();
  if (updates.after === undefined) findings.pass(12);
  else findings.fail(12, `${updates.after} came after the prompt was answered as cancelled`);
  return turn;
}
