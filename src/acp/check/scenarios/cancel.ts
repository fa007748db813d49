/** Cancelling a prompt, right after it was sent and while it runs. */
import { newSession, openAgent, type Agent, type Scene } from "../scene.ts";
import { interruptedTurn, text, turnText, type InterruptedTurn, type Moment } from "../turn.ts";
import { aroundAnswer } from "../updates.ts";

/** An agent may be done before the cancel arrives, so there is more than one try. */
const MOMENTS: readonly Moment[] = ["running", "at_once", "running", "at_once"];
const AT_LEAST = 2;

export async function cancel(scene: Scene): Promise<void> {
  const { findings } = scene;
  await using agent = await openAgent(scene);
  if (agent === undefined) return;
  let cancelled = false;
  let last: InterruptedTurn | undefined;
  let ignored = 0;
  for (const [index, when] of MOMENTS.entries()) {
    if (cancelled && index >= AT_LEAST) break;
    const turn = await cancelOnce(scene, agent, when);
    if (turn === undefined) return;
    if (turn.outcome.kind !== "result") {
      findings.fail(11, turnText(turn));
      return;
    }
    cancelled ||= turn.stopReason === "cancelled";
    ignored += turn.ignored;
    last = turn;
  }
  findings.unseen(12, "no prompt was answered as cancelled");
  if (cancelled) findings.pass(11);
  else if (last !== undefined && ignored >= 2) findings.fail(11, `it was cancelled, and ${turnText(last)}`);
  else findings.unseen(11, "the prompt ended each time before it could be cancelled; a slower one is needed");
}

/** Undefined, with a finding, where there is no session. */
async function cancelOnce(scene: Scene, agent: Agent, when: Moment): Promise<InterruptedTurn | undefined> {
  const { findings, slowPrompt, settleMs } = scene;
  const { peer } = agent;
  const session = await newSession(scene, agent);
  if (session === undefined) return undefined;
  const sessionId = session.id;
  using updates = aroundAnswer(peer, "session/prompt", sessionId);
  const turn = await interruptedTurn(peer, sessionId, [text(slowPrompt)], {
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
