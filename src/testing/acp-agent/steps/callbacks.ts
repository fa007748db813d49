/** Steps in which the agent asks something of the client; what comes back is recorded, and said unless a step is quiet. */

import type { Reply } from "../client.ts";
import { isObject, objectOr } from "../rpc.ts";
import type { Scene } from "../scene.ts";
import type { JsonObject } from "../script.ts";
import { agentText } from "../updates.ts";
import type { Players } from "./play.ts";
import { sendUpdate } from "./speech.ts";

const EVERY_OPTION = ["allow_once", "allow_always", "reject_once", "reject_always"].map((kind) => ({
  optionId: kind,
  name: kind.replace("_", " "),
  kind,
}));

export const CALLBACKS: Pick<Players, "permission" | "request" | "notify"> = {
  async permission({ toolCall, options = EVERY_OPTION, on = {}, echo }, scene) {
    const asked = { toolCall: { toolCallId: "call-1", title: "Do it", ...toolCall }, options };
    const reply = await ask(scene, "session/request_permission", asked, { echo, signal: scene.owed });
    const chosen = chosenIn(reply);
    if (chosen !== undefined && on[chosen] !== undefined) await scene.play(on[chosen]);
  },

  async request({ method, params = {}, echo }, scene) {
    await ask(scene, method, params, { echo });
  },

  notify: ({ method, params }, { stage }) => stage.client.notify(method, params),
};

interface AskOptions {
  readonly echo: boolean | undefined;
  readonly signal?: AbortSignal;
}

/** One request in the name of the scene's session. */
export async function ask(scene: Scene, method: string, params: JsonObject, options: AskOptions): Promise<Reply> {
  const { stage, sessionId } = scene;
  const { echo = true, signal = scene.waiting } = options;
  const withSession = sessionId === undefined ? params : { sessionId, ...params };
  const reply = await stage.client.request(method, withSession, signal);
  if (echo) await sendUpdate(scene, agentText(wordsOf(method, reply)));
  return reply;
}

function wordsOf(method: string, reply: Reply): string {
  return "error" in reply
    ? `${method} failed: ${JSON.stringify(reply.error)}`
    : `${method}: ${JSON.stringify(reply.result)}`;
}

function chosenIn(reply: Reply): string | undefined {
  const result = "result" in reply ? objectOr(reply.result) : {};
  const outcome = isObject(result["outcome"]) ? result["outcome"] : {};
  const chosen = outcome["outcome"] === "selected" ? outcome["optionId"] : outcome["outcome"];
  return typeof chosen === "string" ? chosen : undefined;
}
