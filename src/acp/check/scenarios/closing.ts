/** Closing sessions, one of them while its prompt runs. */
import { outcomeText, resultOf, type Outcome } from "../agent/outcome.ts";
import { newSession, openAgent, type Agent, type Scene } from "../scene.ts";
import { interruptedTurn, text, turnText } from "../turn.ts";

export async function closing(scene: Scene, { promptWorks }: { readonly promptWorks: boolean }): Promise<void> {
  await using agent = await openAgent(scene);
  if (agent === undefined) return;
  const closes = await closeIdle(scene, agent);
  if (closes && promptWorks) await closeRunning(scene, agent);
}

async function closeIdle(scene: Scene, agent: Agent): Promise<boolean> {
  const session = await newSession(scene, agent);
  if (session === undefined) return false;
  const closed = await agent.peer.request("session/close", { sessionId: session.id });
  const closes = resultOf(closed) !== undefined;
  if (closes) scene.findings.pass(20);
  else scene.findings.fail(20, outcomeText("session/close", closed));
  return closes;
}

const MAX_TRIES = 3;

/**
 * A prompt that ended before the close arrived is no fault. The first end that is not `cancelled` may be one of those, so
 * the next prompts have to run on for a while before they are closed: then an end that comes with the close is a fault.
 */
async function closeRunning(scene: Scene, agent: Agent): Promise<void> {
  const { findings, slowPrompt, settleMs } = scene;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const session = await newSession(scene, agent);
    if (session === undefined) return;
    let closed: Promise<Outcome> | undefined;
    const turn = await interruptedTurn(agent.peer, session.id, [text(slowPrompt)], {
      when: "running",
      interrupt: () => {
        closed = agent.peer.request("session/close", { sessionId: session.id });
      },
      settleMs,
      afterMs: tries === 0 ? 0 : 4 * settleMs,
    });
    const outcome = await closed;
    if (outcome !== undefined && resultOf(outcome) === undefined) {
      return findings.fail(20, `while a prompt ran, ${outcomeText("session/close", outcome)}`);
    }
    if (turn.stopReason === "cancelled") return;
    const isCertain = turn.ignored === 2 || (turn.ignored === 1 && tries > 0);
    if (turn.outcome.kind !== "result" || isCertain) {
      return findings.fail(20, `the session was closed, and ${turnText(turn)}`);
    }
  }
  findings.partlyUnseen(20, "the prompt ended each time before the session was closed; a slower one is needed");
}
