/** Routes for pending permission requests and questions, and for answering them. */
import {
  RookeryError,
  isRookeryError,
  type EventOf,
  type SessionEvent,
  type SessionSummary,
} from "../../../domain/index.ts";
import type { HandlerContext } from "../handler-context.ts";
import { jsonResponse } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { RequestIdParam, SessionId } from "../schema/common.ts";
import { AnswerBody, RequestListSchema, SummarySchema, type WaitingRequest } from "../schema/session.ts";
import { MAX_LIST, requireSummary } from "./sessions.ts";

/** Requests outside of a turn are rare, so only the newest sessions are searched for them. */
const MAX_SCANNED_SESSIONS = 1_000;

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
      const { store } = context.rookery;
      const [waiting, newest] = await Promise.all([
        store.list({ status: "waiting", limit: MAX_LIST }),
        store.list({ limit: MAX_SCANNED_SESSIONS }),
      ]);
      const candidates = new Map(
        [...waiting, ...newest].filter(hasWaitingRequests).map((summary) => [summary.id, summary]),
      );
      const found: WaitingRequest[] = [];
      for (const summary of candidates.values())
        found.push(...(await findWaitingRequests(context, summary).catch(ignoreDeletedSession)));
      return jsonResponse({ requests: found.sort((one, other) => (one.at < other.at ? -1 : 1)) });
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
      return jsonResponse({ requests: await findWaitingRequests(context, await requireSummary(context, id)) });
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/requests/:requestId",
    id: "answerRequest",
    summary: "Answer a permission request or a question, also if another process drives the session.",
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
];

const ANSWERS: ReadonlySet<string> = new Set(["permission.resolved", "question.answered"]);

function hasWaitingRequests({ status, waitingFor }: SessionSummary): boolean {
  return waitingFor.length > 0 && status !== "closed" && status !== "copying";
}

/** For sessions that are deleted while the list is built. */
function ignoreDeletedSession(error: unknown): WaitingRequest[] {
  if (isRookeryError(error, "session_not_found")) return [];
  throw error;
}

type RequestEvent = EventOf<"permission.requested"> | EventOf<"question.asked">;

/** Reads from the newest page backwards, because pending requests are recent. */
async function findWaitingRequests({ rookery }: HandlerContext, summary: SessionSummary): Promise<WaitingRequest[]> {
  const missing = new Set(summary.waitingFor);
  const found: WaitingRequest[] = [];
  for (let before: number | undefined; missing.size > 0;) {
    const { events } = await rookery.store.read({ sessionId: summary.id, before, order: "newest_first" });
    for (const event of events)
      if (isRequestEvent(event) && missing.delete(event.requestId)) found.unshift(toWaitingRequest(event, summary));
    before = events.at(-1)?.seq;
    if (before === undefined) break;
  }
  return found;
}

function isRequestEvent(event: SessionEvent): event is RequestEvent {
  return event.type === "permission.requested" || event.type === "question.asked";
}

function toWaitingRequest(event: RequestEvent, { task }: SessionSummary): WaitingRequest {
  const { sessionId, requestId, agent, at } = event;
  const common = { sessionId, requestId, agent, task, at };
  if (event.type === "permission.requested") {
    const { title, tool, kind: toolKind, input } = event;
    return { ...common, kind: "permission", title, tool, toolKind, input };
  }
  const { message: title, from, schema, url } = event;
  return { ...common, kind: "question", title, from, schema, url };
}

/** Removes undefined fields. Throws `input_invalid` if the body has neither a decision nor an action. */
function toAnswer(body: object): Parameters<HandlerContext["rookery"]["answer"]>[2] {
  const known = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  if ("decision" in known || "action" in known) return known as Parameters<HandlerContext["rookery"]["answer"]>[2];
  throw new RookeryError(
    "input_invalid",
    "the answer is incomplete: send a decision for a permission request, or an action for a question",
  );
}
