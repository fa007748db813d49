/** Routes for pending permission requests and questions, for answering them, and for revoking permissions. */
import { normalizePrefix } from "../../../domain/command-prefix.ts";
import { RookeryError } from "../../../domain/index.ts";
import { listWaitingRequests, sessionWaitingRequests } from "../../../session/index.ts";
import type { HandlerContext } from "../handler-context.ts";
import { jsonResponse } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { RequestIdParam, SessionId, boundedText } from "../schema/common.ts";
import { AnswerBody, RequestListSchema, SummarySchema } from "../schema/session.ts";
import { requireSummary } from "./sessions.ts";

export const requestRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/requests",
    id: "listRequests",
    summary: "List the pending requests of all sessions.",
    tag: "sessions",
    responses: {
      200: { description: "Permission requests and questions, oldest first.", schema: RequestListSchema },
    },
    errors: [],
    async handle({ context }) {
      return jsonResponse({ requests: await listWaitingRequests(context.rookery.store) });
    },
  }),
  route({
    method: "GET",
    path: "/v1/sessions/:id/requests",
    id: "listSessionRequests",
    summary: "List the pending requests of a session.",
    tag: "sessions",
    params: { id: SessionId },
    responses: { 200: { description: "Permission requests and questions.", schema: RequestListSchema } },
    errors: ["session_not_found"],
    async handle({ context, params: { id } }) {
      const summary = await requireSummary(context, id);
      return jsonResponse({ requests: await sessionWaitingRequests(context.rookery.store, summary) });
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/requests/:requestId",
    id: "answerRequest",
    summary: "Answer a permission request or a question, even if another process drives the session.",
    tag: "sessions",
    params: { id: SessionId, requestId: RequestIdParam },
    body: AnswerBody,
    responses: { 200: { description: "The session. The answer is durable.", schema: SummarySchema } },
    errors: ["session_not_found", "request_not_found", "request_resolved", "usage"],
    completion: {
      isEvent: (event, logId, { params: { id, requestId } }) =>
        logId === id && "requestId" in event && event.requestId === requestId && ANSWERS.has(event.type),
      recall: async ({ id }, { context }) => jsonResponse(await requireSummary(context, id)),
    },
    async handle({ context, params: { id, requestId }, body }) {
      await context.rookery.answer(id, requestId, toAnswer(body));
      return jsonResponse(await requireSummary(context, id));
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/sessions/:id/grants/:tool",
    id: "revokeGrant",
    summary: "Ask again before a tool or a command runs that was allowed for the rest of the session.",
    tag: "sessions",
    params: { id: SessionId, tool: RequestIdParam },
    query: {
      prefix: boundedText(200).optional().meta({
        description:
          "Revoke only the permission for commands that start with these words. Default: everything of the tool.",
      }),
    },
    responses: { 200: { description: "The session, without that permission.", schema: SummarySchema } },
    errors: ["session_not_found", "session_closed"],
    completion: {
      isEvent: (event, logId, { params: { id, tool }, query: { prefix } }) => {
        const revoked = event as { readonly tool?: unknown; readonly prefix?: unknown };
        const wanted = prefix === undefined ? undefined : normalizePrefix(prefix);
        return (
          logId === id && event.type === "permission.revoked" && revoked.tool === tool && revoked.prefix === wanted
        );
      },
      recall: async ({ id }, { context }) => jsonResponse(await requireSummary(context, id)),
    },
    async handle({ context, params: { id, tool }, query: { prefix } }) {
      await context.rookery.revoke(id, tool, prefix === undefined ? {} : { prefix });
      return jsonResponse(await requireSummary(context, id));
    },
  }),
];

const ANSWERS: ReadonlySet<string> = new Set(["permission.resolved", "question.answered"]);

/** Removes undefined fields. Throws `input_invalid` if the body has neither a decision nor an action. */
function toAnswer(body: object): Parameters<HandlerContext["rookery"]["answer"]>[2] {
  const known = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  if ("decision" in known || "action" in known) return known as Parameters<HandlerContext["rookery"]["answer"]>[2];
  throw new RookeryError(
    "input_invalid",
    "the answer is incomplete: send a decision for a permission request, or an action for a question",
  );
}
