/** Steps in which the agent asks something of the client; what comes back is recorded, and said unless a step is quiet. */

import type { Reply } from "../client.ts";
import { objectOr } from "../rpc.ts";
import { Cancelled, type Scene } from "../scene.ts";
import type { JsonObject } from "../script.ts";
import { agentText } from "../updates.ts";
import type { Players } from "./play.ts";
import { sendUpdate } from "./speech.ts";

const EVERY_OPTION = ["allow_once", "allow_always", "reject_once", "reject_always"].map((kind) => ({
  optionId: kind,
  name: kind.replace("_", " "),
  kind,
}));
const ONE_TEXT = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };

type Callback = "permission" | "readFile" | "writeFile" | "terminal" | "elicit" | "request" | "notify";

export const CALLBACKS: Pick<Players, Callback> = {
  async permission({ toolCall, options = EVERY_OPTION, on = {}, ...echo }, scene) {
    const asked = { toolCall: { toolCallId: "call-1", title: "Do it", ...toolCall }, options };
    const chosen = chosenIn(await ask(scene, "session/request_permission", asked, echo, scene.owed));
    if (chosen !== undefined && on[chosen] !== undefined) await scene.play(on[chosen]);
  },

  async readFile({ echo, ...params }, scene) {
    if (!(await offered(scene, "fs/read_text_file", "fs", "readTextFile"))) return;
    await ask(scene, "fs/read_text_file", params, { echo });
  },

  async writeFile({ echo, ...params }, scene) {
    if (!(await offered(scene, "fs/write_text_file", "fs", "writeTextFile"))) return;
    await ask(scene, "fs/write_text_file", params, { echo });
  },

  async terminal({ then = ["wait_for_exit", "output", "release"], toolCallId, echo, ...params }, scene) {
    if (!(await offered(scene, "terminal/create", "terminal"))) return;
    const { terminalId } = resultOf(await ask(scene, "terminal/create", params, { echo }));
    if (terminalId === undefined) return;
    if (toolCallId !== undefined) {
      const content = [{ type: "terminal", terminalId }];
      await sendUpdate(scene, { sessionUpdate: "tool_call_update", toolCallId, content });
    }
    try {
      for (const what of then) await ask(scene, `terminal/${what}`, { terminalId }, { echo });
    } catch (error) {
      // A cancelled agent gives its terminal back, which ends what runs in it.
      const quiet = { echo: false };
      if (error instanceof Cancelled) await ask(scene, "terminal/release", { terminalId }, quiet, scene.owed);
      throw error;
    }
  },

  async elicit({ message, url, requestedSchema = ONE_TEXT, ...echo }, scene) {
    const mode = url === undefined ? "form" : "url";
    if (!(await offered(scene, "elicitation/create", "elicitation", mode))) return;
    const elicitationId = "elicitation-1";
    const asked = url === undefined ? { mode, message, requestedSchema } : { mode, message, elicitationId, url };
    await ask(scene, "elicitation/create", asked, echo);
    if (url !== undefined) await scene.stage.client.notify("elicitation/complete", { elicitationId });
  },

  async request({ method, params = {}, ...echo }, scene) {
    await ask(scene, method, params, echo);
  },

  notify: ({ method, params }, { stage }) => stage.client.notify(method, params),
};

/** One request in the name of the scene's session. */
async function ask(
  scene: Scene,
  method: string,
  params: JsonObject,
  { echo = true }: { readonly echo?: boolean | undefined },
  signal = scene.waiting,
): Promise<Reply> {
  const { stage, sessionId } = scene;
  const reply = await stage.client.request(method, sessionId === undefined ? params : { sessionId, ...params }, signal);
  const words =
    "error" in reply
      ? `${method} failed: ${JSON.stringify(reply.error)}`
      : `${method}: ${JSON.stringify(reply.result)}`;
  if (echo) await sendUpdate(scene, agentText(words));
  return reply;
}

/** A well-behaved agent does not ask for what the client cannot do; it says so instead. */
async function offered(scene: Scene, method: string, ...path: readonly string[]): Promise<boolean> {
  if (scene.stage.client.offers(...path)) return true;
  await sendUpdate(scene, agentText(`${method} is not offered`));
  return false;
}

function resultOf(reply: Reply): JsonObject {
  return "result" in reply ? objectOr(reply.result) : {};
}

function chosenIn(reply: Reply): string | undefined {
  const { outcome, optionId } = objectOr(resultOf(reply)["outcome"]);
  const chosen = outcome === "selected" ? optionId : outcome;
  return typeof chosen === "string" ? chosen : undefined;
}
