/** What a session goes on with: another agent, another conversation, or a session of its own from here on. */
import { refuseIfOfRunningTask } from "../../../session/index.ts";
import { MAX_PROMPT_BODY } from "../input.ts";
import { json, route, type Route } from "../route.ts";
import { PENDING, SessionId } from "../schema/common.ts";
import { ChangeSessionBody, ConversationBody, ForkSessionBody, SummarySchema } from "../schema/session.ts";
import { OPENING, summaryOf } from "./sessions.ts";

const params = { id: SessionId };

export const conversationRoutes: readonly Route[] = [
  route({
    method: "PATCH",
    path: "/v1/sessions/:id",
    id: "changeSession",
    summary:
      "Go on with another agent, model or folder, at the end of a turn that runs, or with other permissions at once.",
    tag: "sessions",
    slow: true,
    params,
    body: ChangeSessionBody,
    answers: { 200: { description: "It goes on with them.", schema: SummarySchema }, 202: PENDING },
    errors: ["session_not_found", "session_closed", "session_in_use", "lease_lost", ...OPENING],
    made: {
      // The event with the new settings, which its session appends: see `Driving.change`.
      isEvent: () => false,
      recall: async ({ id }, { door }) => json(await summaryOf(door, id)),
    },
    async handle({ door, params: { id }, body }) {
      await refuseIfOfRunningTask(door.served.store, id);
      await door.driving.change(id, body);
      return json(await summaryOf(door, id));
    },
  }),
  route({
    method: "PUT",
    path: "/v1/sessions/:id/conversation",
    id: "replaceConversation",
    summary: "Go on from other messages: cancels what runs, and drops what waits. The log keeps what was.",
    tag: "sessions",
    params,
    body: ConversationBody,
    maxBody: MAX_PROMPT_BODY,
    answers: { 200: { description: "The next turn begins with them.", schema: SummarySchema } },
    errors: ["session_not_found", "session_closed", "session_in_use", "lease_lost", ...OPENING],
    made: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "conversation.replaced" && logId === id,
      recall: async ({ id }, { door }) => json(await summaryOf(door, id)),
    },
    async handle({ door, params: { id }, body: { messages } }) {
      await refuseIfOfRunningTask(door.served.store, id);
      await door.driving.replaceConversation(id, messages);
      return json(await summaryOf(door, id));
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/fork",
    id: "forkSession",
    summary: "A new session that begins with all ended turns of this one, which stays as it is.",
    tag: "sessions",
    params,
    body: ForkSessionBody,
    answers: { 201: { description: "It can be prompted.", schema: SummarySchema } },
    errors: ["session_not_found", "cwd_missing"],
    made: {
      // The last event of a copy; before it, what is there of it is collected.
      isEvent: (event) => event.type === "session.opened" && "reopened" in event && event.reopened === true,
      recall: async ({ id }, { door }) => json(await summaryOf(door, id), 201),
    },
    async handle({ door, params: { id }, body: { cwd, title } }) {
      const changes = { ...(cwd !== undefined && { cwd }), ...(title !== undefined && { title }) };
      return json(await summaryOf(door, await door.served.forkSession(id, changes)), 201);
    },
  }),
];
