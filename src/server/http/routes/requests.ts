/** What agents ask, of one session or of all, and the answers. */
import {
  RookeryError,
  isRookeryError,
  type EventOf,
  type SessionEvent,
  type SessionSummary,
} from "../../../domain/index.ts";
import type { Door } from "../door.ts";
import { json, route, type Route } from "../route.ts";
import { RequestId, SessionId } from "../schema/common.ts";
import { AnswerBody, RequestListSchema, SummarySchema, type WaitingRequest } from "../schema/session.ts";
import { MAX_LIST, summaryOf } from "./sessions.ts";

/** Asks between turns are rare, so only the newest sessions are looked through for them. */
const LOOKED_THROUGH = 1_000;

export const requestRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/requests",
    id: "listRequests",
    summary: "All that waits for a person, over all sessions.",
    tag: "sessions",
    answers: {
      200: { description: "Permissions and questions, those asked first at the top.", schema: RequestListSchema },
    },
    errors: [],
    async handle({ door }) {
      const { store } = door.served;
      const [waiting, newest] = await Promise.all([
        store.list({ status: "waiting", limit: MAX_LIST }),
        store.list({ limit: LOOKED_THROUGH }),
      ]);
      const asking = new Map([...waiting, ...newest].filter(isAsking).map((summary) => [summary.id, summary]));
      const found: WaitingRequest[] = [];
      for (const summary of asking.values()) found.push(...(await requestsOf(door, summary).catch(noneIfDeleted)));
      return json({ requests: found.sort((one, other) => (one.at < other.at ? -1 : 1)) });
    },
  }),
  route({
    method: "GET",
    path: "/v1/sessions/:id/requests",
    id: "listSessionRequests",
    summary: "What waits for a person in a session.",
    tag: "sessions",
    params: { id: SessionId },
    answers: { 200: { description: "Permissions and questions.", schema: RequestListSchema } },
    errors: ["session_not_found"],
    async handle({ door, params: { id } }) {
      return json({ requests: await requestsOf(door, await summaryOf(door, id)) });
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/requests/:requestId",
    id: "answerRequest",
    summary: "Answer a permission or a question, whichever process asked it.",
    tag: "sessions",
    params: { id: SessionId, requestId: RequestId },
    body: AnswerBody,
    answers: { 200: { description: "The answer is in the log.", schema: SummarySchema } },
    errors: ["session_not_found", "request_not_found", "request_resolved", "usage"],
    made: {
      isEvent: (event, logId, { params: { id, requestId } }) =>
        logId === id && "requestId" in event && event.requestId === requestId && ANSWERS.has(event.type),
      recall: async ({ id }, { door }) => json(await summaryOf(door, id)),
    },
    async handle({ door, params: { id, requestId }, body }) {
      await door.served.answer(id, requestId, defined(body));
      return json(await summaryOf(door, id));
    },
  }),
];

const ANSWERS: ReadonlySet<string> = new Set(["permission.resolved", "question.answered"]);

function isAsking({ status, waitingFor }: SessionSummary): boolean {
  return waitingFor.length > 0 && status !== "closed" && status !== "copying";
}

/** Meanwhile. */
function noneIfDeleted(error: unknown): WaitingRequest[] {
  if (isRookeryError(error, "session_not_found")) return [];
  throw error;
}

type Asked = EventOf<"permission.requested"> | EventOf<"question.asked">;

/** From the newest page back, since what is asked was asked lately. */
async function requestsOf({ served }: Door, summary: SessionSummary): Promise<WaitingRequest[]> {
  const missing = new Set(summary.waitingFor);
  const found: WaitingRequest[] = [];
  for (let before: number | undefined; missing.size > 0;) {
    const { events } = await served.store.read({ sessionId: summary.id, before, order: "newest_first" });
    for (const event of events)
      if (isAsk(event) && missing.delete(event.requestId)) found.unshift(shown(event, summary));
    before = events.at(-1)?.seq;
    if (before === undefined) break;
  }
  return found;
}

function isAsk(event: SessionEvent): event is Asked {
  return event.type === "permission.requested" || event.type === "question.asked";
}

function shown(event: Asked, { task }: SessionSummary): WaitingRequest {
  const { sessionId, requestId, agent, at } = event;
  const common = { sessionId, requestId, agent, task, at };
  if (event.type === "permission.requested") {
    const { title, tool, kind: toolKind, input } = event;
    return { ...common, kind: "permission", title, tool, toolKind, input };
  }
  const { message: title, from, schema, url } = event;
  return { ...common, kind: "question", title, from, schema, url };
}

/** The answer, without what was not said. */
function defined(body: object): Parameters<Door["served"]["answer"]>[2] {
  const known = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  if ("decision" in known || "action" in known) return known as Parameters<Door["served"]["answer"]>[2];
  throw new RookeryError("input_invalid", "an answer has a decision or an action");
}
