/** Session routes: list, open, prompt, cancel, close and delete. */
import { z } from "zod";
import { findAgentOfBackend, type Config } from "../../../config/index.ts";
import { ADOPTABLE_BACKENDS, SESSION_STATUSES, type ErrorCode, type SessionSummary } from "../../../domain/index.ts";
import { requireNoRunningTask, sessionNotFound } from "../../../session/index.ts";
import type { HandlerContext } from "../handler-context.ts";
import { MAX_PROMPT_BODY } from "../input.ts";
import { jsonResponse } from "../response.ts";
import { route, textParam, wholeNumberParam, type HttpRoute } from "../route.ts";
import { Folder, SessionId } from "../schema/common.ts";
import {
  CloseBody,
  DeletedSchema,
  NativeSessionsSchema,
  OpenSessionBody,
  PromptBody,
  PromptedSchema,
  SessionListSchema,
  SummarySchema,
} from "../schema/session.ts";

const params = { id: SessionId };
const DEFAULT_LIST = 100;
export const MAX_LIST = 1_000;

/** Errors of opening an agent, for a new session or for the first prompt of a stored one. */
export const OPEN_AGENT_ERRORS: readonly ErrorCode[] = [
  "agent_unknown",
  "agent_unavailable",
  "backend_unknown",
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

export const sessionRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/sessions",
    id: "listSessions",
    summary: "List sessions, newest first.",
    tag: "sessions",
    query: {
      agent: textParam("Only sessions of this agent."),
      cwd: Folder.meta({ description: "Only sessions in this folder." }),
      task: textParam("Only sessions of this task."),
      parent: textParam("Only forks and subagents of this session."),
      status: z.enum(SESSION_STATUSES).meta({ description: "Only sessions with this status." }),
      before: SessionId.meta({ description: "Only sessions older than this one: `next` of the previous page." }),
      limit: wholeNumberParam(`Maximum number of sessions. Default: ${DEFAULT_LIST}, at most ${MAX_LIST}.`),
    },
    responses: { 200: { description: "A page of sessions.", schema: SessionListSchema } },
    errors: [],
    async handle({ context, query }) {
      const limit = clampListLimit(query.limit);
      const sessions = await context.rookery.store.list({ ...query, limit });
      return jsonResponse({ sessions, next: sessions.length < limit ? undefined : sessions.at(-1)?.id });
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions",
    id: "openSession",
    summary: "Open a new session.",
    tag: "sessions",
    body: OpenSessionBody,
    maxBody: MAX_PROMPT_BODY,
    responses: { 201: { description: "The new session.", schema: SummarySchema } },
    errors: [
      ...OPEN_AGENT_ERRORS,
      "agent_not_ready",
      "input_too_large",
      "attachment_missing",
      "native_session_not_found",
      "native_session_in_use",
      "native_session_unreadable",
    ],
    completion: {
      // The last event of an adopted session. One without it is garbage that is collected later.
      isEvent: (event) => event.type === "session.opened" && !("copying" in event && event.copying === true),
      recall: async ({ id }, { context }) => jsonResponse(await requireSummary(context, id), 201),
    },
    async handle({ context, body }) {
      const { agent, model, cwd, adopt } = body;
      const chosen = (config: Config) =>
        agent ?? (adopt === undefined ? undefined : findAgentOfBackend(config, adopt.backend));
      await context.requireReady({ cwd, worktree: false, agents: (config) => [{ agent: chosen(config), model }] });
      const options = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
      return jsonResponse(await requireSummary(context, await context.sessions.open(options)), 201);
    },
  }),
  route({
    method: "GET",
    path: "/v1/native-sessions",
    id: "listNativeSessions",
    summary: "List the sessions that programs keep for a folder, and that can be adopted.",
    tag: "sessions",
    query: {
      cwd: Folder.meta({ description: "A folder on the server's machine. Default: its working directory." }),
      backend: z.enum(ADOPTABLE_BACKENDS).meta({ description: "Only sessions of this program." }),
    },
    responses: { 200: { description: "The sessions.", schema: NativeSessionsSchema } },
    errors: ["cwd_missing", "config_invalid", "agent_unknown"],
    async handle({ context, query: { cwd, backend } }) {
      const query = { ...(cwd !== undefined && { cwd }), ...(backend !== undefined && { backend }) };
      return jsonResponse({ sessions: await context.rookery.nativeSessions(query) });
    },
  }),
  route({
    method: "GET",
    path: "/v1/sessions/:id",
    id: "showSession",
    summary: "Show a session.",
    tag: "sessions",
    params,
    responses: { 200: { description: "The session.", schema: SummarySchema } },
    errors: ["session_not_found"],
    async handle({ context, params: { id } }) {
      return jsonResponse(await requireSummary(context, id));
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/sessions/:id",
    id: "deleteSession",
    summary: "Delete a session and its log permanently.",
    tag: "sessions",
    params,
    responses: { 200: { description: "The session is deleted.", schema: DeletedSchema } },
    errors: ["session_not_found", "session_in_use"],
    completion: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "session.deleted" && logId === id,
      recall: ({ id }) => Promise.resolve(jsonResponse({ id })),
    },
    async handle({ context, params: { id } }) {
      await requireNoRunningTask(context.rookery.store, id);
      await context.sessions.delete(id);
      context.streams.announceDeletion(id);
      return jsonResponse({ id });
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/turns",
    id: "promptSession",
    summary: "Start a turn with a prompt. Responds when the start is durable.",
    tag: "sessions",
    params,
    body: PromptBody,
    maxBody: MAX_PROMPT_BODY,
    responses: {
      202: { description: "The turn is running: follow the events of the session.", schema: PromptedSchema },
    },
    errors: [
      "session_not_found",
      "session_closed",
      "session_in_use",
      "other_host",
      "turn_in_progress",
      "attachment_missing",
      "lease_lost",
      "mcp_unknown",
      "mcp_unavailable",
      "mcp_failed",
      ...OPEN_AGENT_ERRORS,
    ],
    completion: {
      // A started turn is matched by its id: see `DrivenSessions.prompt`.
      isEvent: ({ type }, logId, { params: { id } }) => type === "input.queued" && logId === id,
      recall: async ({ id, seq }, { context }) => {
        const { events } = await context.rookery.store.read({ sessionId: id, after: seq - 1, limit: 1 });
        const [event] = events;
        if (event?.type === "input.queued") return jsonResponse({ sessionId: id, inputId: event.inputId }, 202);
        return jsonResponse({ sessionId: id, turnId: event?.turnId, seq }, 202);
      },
    },
    async handle({ context, params: { id }, body: { input, deliver, queue = deliver !== undefined } }) {
      if (queue) return jsonResponse({ sessionId: id, inputId: await context.sessions.queue(id, input, deliver) }, 202);
      await requireNoRunningTask(context.rookery.store, id);
      return jsonResponse({ sessionId: id, ...(await context.sessions.prompt(id, input)) }, 202);
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/resume",
    id: "resumeTurn",
    summary: "Continue the last turn, which failed, stalled or was cancelled, without a prompt.",
    tag: "sessions",
    params,
    body: z.strictObject({}),
    responses: {
      202: { description: "The turn is running: follow the events of the session.", schema: PromptedSchema },
    },
    errors: [
      "session_not_found",
      "session_closed",
      "session_in_use",
      "other_host",
      "turn_in_progress",
      "lease_lost",
      ...OPEN_AGENT_ERRORS,
    ],
    completion: {
      isEvent: () => false, // a started turn is matched by its id: see `DrivenSessions.resume`
      recall: async ({ id, seq }, { context }) => {
        const { events } = await context.rookery.store.read({ sessionId: id, after: seq - 1, limit: 1 });
        return jsonResponse({ sessionId: id, turnId: events[0]?.turnId, seq }, 202);
      },
    },
    async handle({ context, params: { id } }) {
      await requireNoRunningTask(context.rookery.store, id);
      return jsonResponse({ sessionId: id, ...(await context.sessions.resume(id)) }, 202);
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/cancel",
    id: "cancelTurn",
    summary: "Cancel the running turn. Responds when its end is durable.",
    tag: "sessions",
    params,
    body: z.strictObject({}),
    responses: { 200: { description: "The session, with no running turn.", schema: SummarySchema } },
    errors: ["session_not_found", "session_in_use"],
    completion: {
      // The session appends the end of the turn, or the request to another process: see `DrivenSessions.cancel`.
      isEvent: () => false,
      recall: async ({ id, seq }, { context }) => {
        const { events } = await context.rookery.store.read({ sessionId: id, after: seq - 1, limit: 1 });
        const [event] = events;
        if (event?.type === "turn.cancel_requested" && event.turnId !== undefined)
          await context.sessions.finishCancel(id, event.turnId);
        return jsonResponse(await requireSummary(context, id));
      },
    },
    async handle({ context, params: { id } }) {
      await context.sessions.cancel(id);
      return jsonResponse(await requireSummary(context, id));
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:id/close",
    id: "closeSession",
    summary: "Close a session. If another process drives it, that process stops.",
    tag: "sessions",
    params,
    body: CloseBody,
    responses: { 200: { description: "The closed session.", schema: SummarySchema } },
    errors: ["session_not_found"],
    completion: {
      isEvent: ({ type }, logId, { params: { id } }) => type === "session.closed" && logId === id,
      recall: async ({ id }, { context }) => jsonResponse(await requireSummary(context, id)),
    },
    async handle({ context, params: { id }, body: { reason } }) {
      await context.sessions.end(id, reason);
      return jsonResponse(await requireSummary(context, id));
    },
  }),
];

/** Rejects with `session_not_found`. */
export async function requireSummary({ rookery }: HandlerContext, id: string): Promise<SessionSummary> {
  const summary = await rookery.store.summary(id);
  if (summary === undefined) throw sessionNotFound(id);
  return summary;
}

/** At least 1, because an empty page cannot say whether another page follows. */
export function clampListLimit(limit: number | undefined): number {
  return Math.min(Math.max(limit ?? DEFAULT_LIST, 1), MAX_LIST);
}
