/** Sessions: listed, opened, prompted, cancelled, closed and forgotten. */
import { z } from "zod";
import { SESSION_STATUSES, type ErrorCode, type SessionSummary } from "../../../domain/index.ts";
import { requireNoRunningTask, sessionNotFound } from "../../../session/index.ts";
import type { Door } from "../door.ts";
import { MAX_PROMPT_BODY } from "../input.ts";
import { json, route, text, wholeNumber, type Route } from "../route.ts";
import { Folder, SessionId } from "../schema/common.ts";
import {
  CloseBody,
  DeletedSchema,
  OpenSessionBody,
  PromptBody,
  PromptedSchema,
  SessionListSchema,
  SummarySchema,
} from "../schema/session.ts";

const params = { id: SessionId };
const DEFAULT_LIST = 100;
export const MAX_LIST = 1_000;

/** Where an agent is opened: for a new session, or for one of the log that is prompted. */
export const OPENING: readonly ErrorCode[] = [
  "agent_unknown",
  "agent_unavailable",
  "backend_unsupported",
  "config_invalid",
  "cwd_missing",
  "model_invalid",
  "not_trusted",
  "plugin_failed",
  "provider_mismatch",
  "provider_unconfigured",
  "provider_unknown",
  "tool_conflict",
];

export const sessionRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/sessions",
    id: "listSessions",
    summary: "Sessions, the newest first.",
    tag: "sessions",
    query: {
      agent: text("Only of this agent."),
      cwd: Folder.meta({ description: "Only in this folder." }),
      task: text("Only of this task."),
      parent: text("Only forks and children of this session."),
      status: z.enum(SESSION_STATUSES).meta({ description: "Only in this state." }),
      before: SessionId.meta({ description: "Only older than this one: `next` of the page before." }),
      limit: wholeNumber(`At most so many; ${DEFAULT_LIST} if not said, ${MAX_LIST} at most.`),
    },
    answers: { 200: { description: "A page.", schema: SessionListSchema } },
    errors: [],
    async handle({ door, query }) {
      const limit = limitOf(query.limit);
      const sessions = await door.served.store.list({ ...query, limit });
      return json({ sessions, next: sessions.length < limit ? undefined : sessions.at(-1)?.id });
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions",
    id: "openSession",
    summary: "Open a new session.",
    tag: "sessions",
    body: OpenSessionBody,
    answers: { 201: { description: "It is open.", schema: SummarySchema } },
    errors: OPENING,
    made: {
      isEvent: ({ type }) => type === "session.opened",
      recall: async ({ id }, { door }) => json(await summaryOf(door, id), 201),
    },
    async handle({ door, body }) {
      const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
      return json(await summaryOf(door, await door.driving.open(given)), 201);
    },
  }),
  route({
    method: "GET",
    path: "/v1/sessions/:id",
    id: "showSession",
    summary: "One session.",
    tag: "sessions",
    params,
    answers: { 200: { description: "As it is now.", schema: SummarySchema } },
    errors: ["session_not_found"],
    async handle({ door, params: { id } }) {
      return json(await summaryOf(door, id));
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/sessions/:id",
    id: "deleteSession",
    summary: "Forget a session for good.",
    tag: "sessions",
    params,
    answers: { 200: { description: "It is as if it had never been.", schema: DeletedSchema } },
    errors: ["session_not_found", "session_in_use"],
    made: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "session.deleted" && logId === id,
      recall: ({ id }) => Promise.resolve(json({ id })),
    },
    async handle({ door, params: { id } }) {
      await requireNoRunningTask(door.served.store, id);
      await door.driving.delete(id);
      door.streams.forget();
      return json({ id });
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/turns",
    id: "promptSession",
    summary: "Prompt the agent: begins a turn, and answers when its beginning is durable.",
    tag: "sessions",
    params,
    body: PromptBody,
    maxBody: MAX_PROMPT_BODY,
    answers: { 202: { description: "The turn runs: follow the session's events.", schema: PromptedSchema } },
    errors: [
      "session_not_found",
      "session_closed",
      "session_in_use",
      "turn_in_progress",
      "attachment_missing",
      "lease_lost",
      "mcp_unknown",
      "mcp_unavailable",
      "mcp_failed",
      ...OPENING,
    ],
    made: {
      // A turn is expected by its id: see `Driving.prompt`.
      isEvent: ({ type }, logId, { params: { id } }) => type === "input.queued" && logId === id,
      recall: async ({ id, seq }, { door }) => {
        const { events } = await door.served.store.read({ sessionId: id, after: seq - 1, limit: 1 });
        const [event] = events;
        if (event?.type === "input.queued") return json({ sessionId: id, inputId: event.inputId }, 202);
        return json({ sessionId: id, turnId: event?.turnId, seq }, 202);
      },
    },
    async handle({ door, params: { id }, body: { input, deliver, queue = deliver !== undefined } }) {
      if (queue) return json({ sessionId: id, inputId: await door.driving.queue(id, input, deliver) }, 202);
      await requireNoRunningTask(door.served.store, id);
      return json({ sessionId: id, ...(await door.driving.prompt(id, input)) }, 202);
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/cancel",
    id: "cancelTurn",
    summary: "Cancel the running turn; answers when its end is durable.",
    tag: "sessions",
    params,
    body: z.strictObject({}),
    answers: { 200: { description: "No turn runs.", schema: SummarySchema } },
    errors: ["session_not_found", "session_in_use"],
    made: {
      // The end of a turn, which its session appends: see `Driving.cancel`.
      isEvent: () => false,
      recall: async ({ id }, { door }) => json(await summaryOf(door, id)),
    },
    async handle({ door, params: { id } }) {
      await door.driving.cancel(id);
      return json(await summaryOf(door, id));
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/close",
    id: "closeSession",
    summary: "End the conversation; one that another process drives is stopped there.",
    tag: "sessions",
    params,
    body: CloseBody,
    answers: { 200: { description: "It is closed.", schema: SummarySchema } },
    errors: ["session_not_found"],
    made: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "session.closed" && logId === id,
      recall: async ({ id }, { door }) => json(await summaryOf(door, id)),
    },
    async handle({ door, params: { id }, body: { reason } }) {
      await door.driving.close(id, reason);
      return json(await summaryOf(door, id));
    },
  }),
];

/** Rejects with `session_not_found`. */
export async function summaryOf({ served }: Door, id: string): Promise<SessionSummary> {
  const summary = await served.store.summary(id);
  if (summary === undefined) throw sessionNotFound(id);
  return summary;
}

/** 1 at least: a page that holds nothing says nothing of what follows. */
export function limitOf(limit: number | undefined): number {
  return Math.min(Math.max(limit ?? DEFAULT_LIST, 1), MAX_LIST);
}
