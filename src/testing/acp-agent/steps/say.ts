/** Steps that send updates, run other steps, or end the request. */

import { type StepContext, RequestEnd } from "../step-context.ts";
import { agentText, agentThought, type AcpUpdate } from "../updates.ts";
import type { StepHandlers } from "./step-handlers.ts";

export const MESSAGE_STEPS: Pick<StepHandlers, "say" | "think" | "update" | "in" | "atOnce" | "stop" | "fail"> = {
  async say(text, context) {
    for (const piece of toPieces(text)) await sendUpdate(context, agentText(piece));
  },

  async think(text, context) {
    for (const piece of toPieces(text)) await sendUpdate(context, agentThought(piece));
  },

  update: (update, context) => sendUpdate(context, update),

  in: ({ session, steps }, context) => context.play(steps, session),

  async atOnce(lists, context) {
    await Promise.all(lists.map((steps) => context.play(steps, context.sessionId)));
  },

  stop: (stopReason) => Promise.reject(new RequestEnd({ stopReason })),

  fail: (error) => Promise.reject(new RequestEnd({ error })),
};

export function sendUpdate({ agent, sessionId }: StepContext, update: AcpUpdate): Promise<void> {
  if (sessionId !== undefined) agent.sessions.append(sessionId, update);
  return agent.client.notify("session/update", { sessionId, update });
}

function toPieces(text: string | readonly string[]): readonly string[] {
  return typeof text === "string" ? [text] : text;
}
