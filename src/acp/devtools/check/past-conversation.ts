/** A conversation with an earlier process of the agent. Anything that the next process knows about it was persisted. */
import { createCheckSession, openInitializedAgent, type CheckContext } from "./context.ts";
import { runPrompt, textBlock } from "./prompt-turn.ts";
import type { TurnTranscript } from "./turn-updates.ts";

export interface PastConversation {
  readonly sessionId: string;
  readonly transcript: TurnTranscript;
}

/** Undefined if the conversation failed. */
export async function holdConversation(context: CheckContext): Promise<PastConversation | undefined> {
  await using agent = await openInitializedAgent(context);
  const session = agent && (await createCheckSession(context, agent));
  if (agent === undefined || session === undefined) return undefined;
  const turn = await runPrompt(agent.peer, session.id, [textBlock(context.prompt)]);
  return turn.outcome.kind === "result" ? { sessionId: session.id, transcript: turn.transcript } : undefined;
}
