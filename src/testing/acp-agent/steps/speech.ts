/** Steps in which the agent says something, for one session or another, or ends what it says. */

import type { Scene } from "../scene.ts";
import { Ended } from "../scene.ts";
import { agentText, agentThought, type Update } from "../updates.ts";
import type { Players } from "./play.ts";

export const SPEECH: Pick<Players, "say" | "think" | "update" | "in" | "atOnce" | "stop" | "fail"> = {
  async say(text, scene) {
    for (const piece of piecesOf(text)) await sendUpdate(scene, agentText(piece));
  },

  async think(text, scene) {
    for (const piece of piecesOf(text)) await sendUpdate(scene, agentThought(piece));
  },

  update: (update, scene) => sendUpdate(scene, update),

  in: ({ session, steps }, scene) => scene.play(steps, session),

  async atOnce(lists, scene) {
    await Promise.all(lists.map((steps) => scene.play(steps, scene.sessionId)));
  },

  stop: (stopReason) => Promise.reject(new Ended({ stopReason })),

  fail: (error) => Promise.reject(new Ended({ error })),
};

export function sendUpdate({ stage, sessionId }: Scene, update: Update): Promise<void> {
  if (sessionId !== undefined) stage.sessions.append(sessionId, update);
  return stage.client.notify("session/update", { sessionId, update });
}

function piecesOf(text: string | readonly string[]): readonly string[] {
  return typeof text === "string" ? [text] : text;
}
