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

/** A prompt that ends before the close arrives is no fault, and the next try may see more. */
async function closeRunning(scene: Scene, agent: Agent): Promise<void> {
  const { findings, slowPrompt, settleMs } = scene;
  for (let tries = 0, ignored = 0; tries < 2; tries += 1) {
    const session = await newSession(scene, agent);
    if (session === undefined) return;
    let closed: Promise<Outcome> | undefined;
    const turn = await interruptedTurn(agent.peer, session.id, [text(slowPrompt)], {
      when: "running",
      interrupt: () => {
        closed = agent.peer.request("session/close", { sessionId: session.id });
      },
      settleMs,
    });
    const outcome = await closed;
    if (outcome !== undefined && resultOf(outcome) === undefined) {
      return findings.fail(20, `while a prompt ran, ${outcomeText("session/close", outcome)}`);
    }
    if (turn.stopReason === "cancelled") return;
    ignored += turn.ignored;
    if (turn.outcome.kind !== "result" || ignored >= 2) {
      return findings.fail(20, `the session was closed, and ${turnText(turn)}`);
    }
  }
}
