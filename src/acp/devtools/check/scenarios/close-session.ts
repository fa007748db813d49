/** Closes sessions, one of them while its prompt runs. */
import { formatOutcome, getResultObject, type RequestOutcome } from "../agent/outcome.ts";
import { createCheckSession, openInitializedAgent, type InitializedAgent, type CheckContext } from "../context.ts";
import { runInterruptedPrompt, textBlock, formatTurn } from "../prompt-turn.ts";

export async function checkClose(
  context: CheckContext,
  { promptWorks }: { readonly promptWorks: boolean },
): Promise<void> {
  await using agent = await openInitializedAgent(context);
  if (agent === undefined) return;
  const closes = await closeIdle(context, agent);
  if (closes && promptWorks) await closeRunning(context, agent);
}

async function closeIdle(context: CheckContext, agent: InitializedAgent): Promise<boolean> {
  const session = await createCheckSession(context, agent);
  if (session === undefined) return false;
  const closed = await agent.peer.request("session/close", { sessionId: session.id });
  const closes = getResultObject(closed) !== undefined;
  if (closes) context.findings.pass(20);
  else context.findings.fail(20, formatOutcome("session/close", closed));
  return closes;
}

const MAX_TRIES = 3;

/**
 * A prompt that ends before the close arrives is not a fault. The first attempt cannot tell that apart from an ignored
 * close, so later attempts let the prompt run for a while first: then an end that is not `cancelled` is a fault.
 */
async function closeRunning(context: CheckContext, agent: InitializedAgent): Promise<void> {
  const { findings, slowPrompt, settleMs } = context;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const session = await createCheckSession(context, agent);
    if (session === undefined) return;
    let closed: Promise<RequestOutcome> | undefined;
    const turn = await runInterruptedPrompt(agent.peer, session.id, [textBlock(slowPrompt)], {
      when: "running",
      interrupt: () => {
        closed = agent.peer.request("session/close", { sessionId: session.id });
      },
      settleMs,
      afterMs: tries === 0 ? 0 : 4 * settleMs,
    });
    const outcome = await closed;
    if (outcome !== undefined && getResultObject(outcome) === undefined) {
      return findings.fail(20, `while a prompt ran, ${formatOutcome("session/close", outcome)}`);
    }
    if (turn.stopReason === "cancelled") return;
    const isCertain = turn.ignored === 2 || (turn.ignored === 1 && tries > 0);
    if (turn.outcome.kind !== "result" || isCertain) {
      return findings.fail(20, `the session was closed, but ${formatTurn(turn)}`);
    }
  }
  findings.partlyNotSeen(20, "every prompt ended before the session was closed; use a slower prompt");
}
