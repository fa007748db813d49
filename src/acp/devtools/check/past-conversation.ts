/** A conversation with an earlier process of the agent. Anything that the next process knows about it was persisted. */
import { createCheckSession, openInitializedAgent, type CheckContext } from "./context.ts";
import { runPrompt, textBlock } from "./prompt-turn.ts";
import type { Transcript } from "./turn-updates.ts";

export interface PastConversation {
  readonly sessionId: string;
  readonly transcript: Transcript;
}

/** Undefined if the conversation failed. */
export async function holdConversation(scene: CheckContext): Promise<PastConversation | undefined> {
  await using agent = await openInitializedAgent(scene);
  const session = agent && (await createCheckSession(scene, agent));
  if (agent === undefined || session === undefined) return undefined;
  const turn = await runPrompt(agent.peer, session.id, [textBlock(scene.prompt)]);
  return turn.outcome.kind === "result" ? { sessionId: session.id, transcript: turn.transcript } : undefined;
}
