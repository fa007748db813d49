/** Steps that send a request to the client. The agent says the response, unless `echo` is false. */

import { type RpcOutcome, toObject, type JsonObject } from "../rpc.ts";
import { RequestCancelled, type StepContext } from "../step-context.ts";
import { agentText } from "../updates.ts";
import type { StepHandlers } from "./step-handlers.ts";
import { sendUpdate } from "./say.ts";

const EVERY_OPTION = ["allow_once", "allow_always", "reject_once", "reject_always"].map((kind) => ({
  optionId: kind,
  name: kind.replace("_", " "),
  kind,
}));
const ONE_TEXT = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };

type Callback = "permission" | "readFile" | "writeFile" | "terminal" | "elicit" | "request" | "notify";

export const CALLBACK_STEPS: Pick<StepHandlers, Callback> = {
  async permission({ toolCall, options = EVERY_OPTION, on = {}, ...echo }, context) {
    const asked = { toolCall: { toolCallId: "call-1", title: "Do it", ...toolCall }, options };
    const chosen = chosenOption(
      await requestFromClient(context, "session/request_permission", asked, echo, context.owedSignal),
    );
    if (chosen !== undefined && on[chosen] !== undefined) await context.play(on[chosen]);
  },

  async readFile({ echo, ...params }, context) {
    if (!(await isSupported(context, "fs/read_text_file", "fs", "readTextFile"))) return;
    await requestFromClient(context, "fs/read_text_file", params, { echo });
  },

  async writeFile({ echo, ...params }, context) {
    if (!(await isSupported(context, "fs/write_text_file", "fs", "writeTextFile"))) return;
    await requestFromClient(context, "fs/write_text_file", params, { echo });
  },

  async terminal({ then = ["wait_for_exit", "output", "release"], toolCallId, echo, ...params }, context) {
    if (!(await isSupported(context, "terminal/create", "terminal"))) return;
    const { terminalId } = toResultObject(await requestFromClient(context, "terminal/create", params, { echo }));
    if (terminalId === undefined) return;
    if (toolCallId !== undefined) {
      const content = [{ type: "terminal", terminalId }];
      await sendUpdate(context, { sessionUpdate: "tool_call_update", toolCallId, content });
    }
    try {
      for (const what of then) await requestFromClient(context, `terminal/${what}`, { terminalId }, { echo });
    } catch (error) {
      // A cancelled agent releases its terminal, which ends the command in it.
      const quiet = { echo: false };
      if (error instanceof RequestCancelled)
        await requestFromClient(context, "terminal/release", { terminalId }, quiet, context.owedSignal);
      throw error;
    }
  },

  async elicit({ message, url, requestedSchema = ONE_TEXT, ...echo }, context) {
    const mode = url === undefined ? "form" : "url";
    if (!(await isSupported(context, "elicitation/create", "elicitation", mode))) return;
    const elicitationId = "elicitation-1";
    const asked = url === undefined ? { mode, message, requestedSchema } : { mode, message, elicitationId, url };
    await requestFromClient(context, "elicitation/create", asked, echo);
    if (url !== undefined) await context.agent.client.notify("elicitation/complete", { elicitationId });
  },

  async request({ method, params = {}, ...echo }, context) {
    await requestFromClient(context, method, params, echo);
  },

  notify: ({ method, params }, { agent }) => agent.client.notify(method, params),
};

/** Sends a request for the current session. */
async function requestFromClient(
  context: StepContext,
  method: string,
  params: JsonObject,
  { echo = true }: { readonly echo?: boolean | undefined },
  signal = context.waitSignal,
): Promise<RpcOutcome> {
  const { agent, sessionId } = context;
  const reply = await agent.client.request(method, sessionId === undefined ? params : { sessionId, ...params }, signal);
  const words =
    "error" in reply
      ? `${method} failed: ${JSON.stringify(reply.error)}`
      : `${method}: ${JSON.stringify(reply.result)}`;
  if (echo) await sendUpdate(context, agentText(words));
  return reply;
}

/** True if the client supports the method. If not, the agent says so, as a well-behaved agent does not call it. */
async function isSupported(context: StepContext, method: string, ...path: readonly string[]): Promise<boolean> {
  if (context.agent.client.supports(...path)) return true;
  await sendUpdate(context, agentText(`the client does not support ${method}`));
  return false;
}

function toResultObject(reply: RpcOutcome): JsonObject {
  return "result" in reply ? toObject(reply.result) : {};
}

function chosenOption(reply: RpcOutcome): string | undefined {
  const { outcome, optionId } = toObject(toResultObject(reply)["outcome"]);
  const chosen = outcome === "selected" ? optionId : outcome;
  return typeof chosen === "string" ? chosen : undefined;
}
