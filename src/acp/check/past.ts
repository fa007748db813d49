/** A conversation that an earlier process of the agent had: whatever the next one knows of it was kept. */
import { newSession, openAgent, type Scene } from "./scene.ts";
import { promptTurn, text } from "./turn.ts";
import type { Words } from "./updates.ts";

export interface Past {
  readonly sessionId: string;
  readonly words: Words;
}

/** Undefined where there was none. */
export async function converse(scene: Scene): Promise<Past | undefined> {
  await using agent = await openAgent(scene);
  const session = agent && (await newSession(scene, agent));
  if (agent === undefined || session === undefined) return undefined;
  const turn = await promptTurn(agent.peer, session.id, [text(scene.prompt)]);
  return turn.outcome.kind === "result" ? { sessionId: session.id, words: turn.words } : undefined;
}
