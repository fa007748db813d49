/** A conversation that is taken up again by another process of the agent. */
import { outcomeText, type Outcome } from "../agent/outcome.ts";
import { converse } from "../past.ts";
import { openAgent, type Scene } from "../scene.ts";
import { aroundAnswer, withoutSpace, type AroundAnswer } from "../updates.ts";

export async function load(scene: Scene): Promise<void> {
  const { findings } = scene;
  const past = await converse(scene);
  const taken = past && (await takeUp(scene, "session/load", past.sessionId));
  if (past === undefined || taken === undefined) return findings.unseen(17, NOTHING_TO_TAKE_UP);
  const { outcome, updates } = taken;
  const { wordsBefore } = updates;
  if (outcome.kind !== "result") findings.fail(17, outcomeText("session/load", outcome));
  else if (!wordsBefore.user.includes(withoutSpace(scene.prompt)))
    findings.fail(17, missing("the user's message", updates));
  else if (!wordsBefore.agent.includes(past.words.lastOfAgent))
    findings.fail(17, missing("the agent's message", updates));
  else if (updates.after !== undefined) findings.fail(17, `${updates.after} came after session/load was answered`);
  else findings.pass(17);
}

export async function resume(scene: Scene): Promise<void> {
  const { findings } = scene;
  const past = await converse(scene);
  const taken = past && (await takeUp(scene, "session/resume", past.sessionId));
  if (taken === undefined) return findings.unseen(18, NOTHING_TO_TAKE_UP);
  const replayed = taken.updates.before ?? taken.updates.after;
  if (taken.outcome.kind !== "result") findings.fail(18, outcomeText("session/resume", taken.outcome));
  else if (replayed !== undefined) findings.fail(18, `session/resume sent ${replayed}`);
  else findings.pass(18);
}

const NOTHING_TO_TAKE_UP = "there was no conversation to take up";

async function takeUp(
  scene: Scene,
  method: string,
  sessionId: string,
): Promise<{ outcome: Outcome; updates: AroundAnswer } | undefined> {
  await using agent = await openAgent(scene);
  if (agent === undefined) return undefined;
  using updates = aroundAnswer(agent.peer, method, sessionId);
  const outcome = await agent.peer.request(method, { sessionId, cwd: scene.target.cwd, mcpServers: [] });
  await agent.peer.settle();
  return { outcome, updates };
}

function missing(what: string, { after }: AroundAnswer): string {
  return `${what} was not replayed before the answer${after === undefined ? "" : `, and ${after} came after it`}`;
}
