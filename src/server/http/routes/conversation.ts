/** Routes that change the agent of a session, replace its conversation, or fork it. */
import { requireNoRunningTask } from "../../../session/index.ts";
import { MAX_PROMPT_BODY } from "../input.ts";
import { jsonResponse } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { PENDING, SessionId } from "../schema/common.ts";
import { ChangeSessionBody, ConversationBody, ForkSessionBody, SummarySchema } from "../schema/session.ts";
import { OPEN_AGENT_ERRORS, requireSummary } from "./sessions.ts";

const params = { id: SessionId };

export const conversationRoutes: readonly HttpRoute[] = [
  route({
    method: "PATCH",
    path: "/v1/sessions/:id",
    id: "changeSession",
    summary: "Change the agent, model or folder after the running turn ends, or the permissions immediately.",
    tag: "sessions",
    slow: true,
    params,
    body: ChangeSessionBody,
    responses: { 200: { description: "The session, with the changes.", schema: SummarySchema }, 202: PENDING },
    errors: ["session_not_found", "session_closed", "session_in_use", "lease_lost", ...OPEN_AGENT_ERRORS],
    completion: {
      // `DrivenSessions.change` expects the event with the new settings, which the session appends.
      isEvent: () => false,
      recall: async ({ id }, { context }) => jsonResponse(await requireSummary(context, id)),
    },
    async handle({ context, params: { id }, body }) {
      await requireNoRunningTask(context.rookery.store, id);
      await context.sessions.change(id, body);
      return jsonResponse(await requireSummary(context, id));
    },
  }),
  route({
    method: "PUT",
    path: "/v1/sessions/:id/conversation",
    id: "replaceConversation",
    summary:
      "Replace the conversation. Cancels the running turn and drops queued inputs. The log keeps the old messages.",
    tag: "sessions",
    params,
    body: ConversationBody,
    maxBody: MAX_PROMPT_BODY,
    responses: { 200: { description: "The next turn starts from these messages.", schema: SummarySchema } },
    errors: [
      "session_not_found",
      "session_closed",
      "session_in_use",
      "lease_lost",
      "input_too_large",
      "attachment_missing",
      ...OPEN_AGENT_ERRORS,
    ],
    completion: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "conversation.replaced" && logId === id,
      recall: async ({ id }, { context }) => jsonResponse(await requireSummary(context, id)),
    },
    async handle({ context, params: { id }, body: { messages } }) {
      await requireNoRunningTask(context.rookery.store, id);
      await context.sessions.replaceConversation(id, messages);
      return jsonResponse(await requireSummary(context, id));
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/fork",
    id: "forkSession",
    summary: "Create a new session with the completed turns of this one, which does not change.",
    tag: "sessions",
    params,
    body: ForkSessionBody,
    responses: { 201: { description: "The new session, ready for prompts.", schema: SummarySchema } },
    errors: ["session_not_found", "cwd_missing"],
    completion: {
      // The last event of a copy. A copy without it is garbage that is collected later.
      isEvent: (event) => event.type === "session.opened" && "reopened" in event && event.reopened === true,
      recall: async ({ id }, { context }) => jsonResponse(await requireSummary(context, id), 201),
    },
    async handle({ context, params: { id }, body: { cwd, title, through } }) {
      const changes = {
        ...(cwd !== undefined && { cwd }),
        ...(title !== undefined && { title }),
        ...(through !== undefined && { through }),
      };
      return jsonResponse(await requireSummary(context, await context.rookery.forkSession(id, changes)), 201);
    },
  }),
];
