/** Event routes: pages for polling and streams for following, with the same cursor for both. */
import { z } from "zod";
import { RookeryError, SessionEvent, type FeedText, type LogEvent } from "../../../domain/index.ts";
import { HttpRefusal, toTooManyConnections } from "../problem.ts";
import { type RouteResponse, jsonResponse } from "../response.ts";
import { flagParam, route, wholeNumberParam, type RouteCall, type HttpRoute, type ParamShape } from "../route.ts";
import { SessionId, TaskIdParam } from "../schema/common.ts";
import { EventPageSchema } from "../schema/session.ts";
import { FeedPageSchema, LogEventSchema, TaskEventPageSchema } from "../schema/task.ts";
import type { LogSource } from "../stream/channel.ts";
import type { EventLine } from "../stream/piece.ts";
import { MAX_STREAMS } from "../stream/streams.ts";
import { requireSummary } from "./sessions.ts";

const DEFAULT_EVENTS = 1_000;
const MAX_EVENTS = 10_000;
/** Serializing a page of this size takes about 20 ms. */
const MAX_BYTES = 4 * 1024 * 1024;

const query = {
  after: wholeNumberParam(
    "Return events after this one. Default: 0, from the start. For streams, Last-Event-ID takes precedence.",
  ),
  limit: wholeNumberParam(
    `Maximum number of events in a page. Default: ${DEFAULT_EVENTS}, at most ${MAX_EVENTS}. A page of large events holds fewer: continue until \`head\`.`,
  ),
};

const feedQuery = {
  ...query,
  deletions: flagParam(
    "Also send `session.deleted` messages with `sessionId` when a session is deleted. They are in no log and have no id. If another process deletes it, the message comes some seconds later, and only if the session is one of the newest 1,000. For streams. Default: false.",
  ),
};

const sessionQuery = {
  ...query,
  before: wholeNumberParam("Return events before this one. For pages."),
  order: z
    .enum(["oldest_first", "newest_first"])
    .meta({ description: "Default: `oldest_first`. `newest_first` starts at the end, or at `before`. For pages." }),
  maxBytes: wholeNumberParam(
    `Maximum size of a page in bytes of JSON, which has at least one event. Default and maximum: ${MAX_BYTES}.`,
  ),
};

export const eventRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/sessions/:id/events",
    id: "sessionEvents",
    summary: "The events of a session, as a page or as a stream. The cursor is `seq`.",
    tag: "events",
    params: { id: SessionId },
    query: sessionQuery,
    stream: SessionEvent,
    responses: { 200: { description: "A page of events, or a stream of them.", schema: EventPageSchema } },
    errors: ["session_not_found"],
    async handle(call) {
      const { context, params: { id: sessionId } } = call; // prettier-ignore
      const { store } = context.rookery;
      const after = readCursor(call);
      const { before, order, maxBytes = MAX_BYTES } = call.query;
      const { head } = await requireSummary(context, sessionId);
      refuseBeyond(after, head);
      if (!wantsStream(call)) {
        const limits = { limit: clampEventLimit(call), maxBytes: Math.min(maxBytes, MAX_BYTES) };
        return jsonResponse(await store.read({ sessionId, after, before, order, ...limits }));
      }
      refusePageOptions({ before, order });
      const source: LogSource = (from, signal) =>
        toEventLines(store.followText({ sessionId, after: from, signal }), getSeq);
      return respondWithStream(call, { name: `session ${sessionId}`, after, source });
    },
  }),
  route({
    method: "GET",
    path: "/v1/tasks/:id/events",
    id: "taskEvents",
    summary: "The events of a task and its sessions, as a page or as a stream. The cursor is a position.",
    tag: "events",
    params: { id: TaskIdParam },
    query,
    stream: LogEventSchema,
    responses: { 200: { description: "A page of events, or a stream of them.", schema: FeedPageSchema } },
    errors: ["task_not_found"],
    async handle(call) {
      const { context, params: { id: task } } = call; // prettier-ignore
      if ((await context.rookery.store.task(task)) === undefined) {
        throw new RookeryError("task_not_found", `no task ${task}: GET /v1/tasks lists all tasks`);
      }
      return respondWithFeed(call, task);
    },
  }),
  route({
    method: "GET",
    path: "/v1/tasks/:id/log",
    id: "taskLog",
    summary: "The events of a task without those of its sessions, as a page. The cursor is `seq`.",
    tag: "events",
    params: { id: TaskIdParam },
    query: { ...query, after: wholeNumberParam("Return events after this one. Default: 0, from the start.") },
    responses: { 200: { description: "A page of events.", schema: TaskEventPageSchema } },
    errors: ["task_not_found"],
    async handle(call) {
      const { context, params: { id: taskId }, query: { after = 0 } } = call; // prettier-ignore
      return jsonResponse(await context.rookery.store.readTask({ taskId, after, limit: clampEventLimit(call) }));
    },
  }),
  route({
    method: "GET",
    path: "/v1/events",
    id: "events",
    summary: "All events in commit order, as a page or as a stream. The cursor is a position.",
    tag: "events",
    query: feedQuery,
    stream: LogEventSchema,
    responses: { 200: { description: "A page of events, or a stream of them.", schema: FeedPageSchema } },
    errors: [],
    handle: (call) => respondWithFeed(call, undefined, call.query.deletions),
  }),
];

type EventsCall = Pick<RouteCall<ParamShape, typeof query>, "context" | "query" | "request" | "response">;

async function respondWithFeed(call: EventsCall, task: string | undefined, deletions = false): Promise<RouteResponse> {
  const { streams } = call.context;
  const { store } = call.context.rookery;
  const after = readCursor(call);
  if (!wantsStream(call)) {
    const page = await store.readFeed({ after, task, limit: clampEventLimit(call), maxBytes: MAX_BYTES });
    refuseBeyond(after, page.head);
    const events = page.events.map(({ position, text }) => `{"position":${position},"event":${text}}`);
    return { text: `{"events":[${events.join(",")}],"head":${page.head}}`, type: "application/json; charset=utf-8" };
  }
  refuseBeyond(after, (await store.readFeed({ after, task, limit: 0 })).head);
  const onPage = (page: readonly FeedText[]): void => streams.deletionWatch.addKnown(findOpenedSessions(page));
  const source: LogSource = (from, signal) =>
    toEventLines(store.followFeed({ after: from, task, signal }), getPosition, onPage);
  const name = task === undefined ? "everything" : `task ${task}`;
  return respondWithStream(call, { name, after, source, deletions });
}

async function respondWithStream(
  { context, request, response }: EventsCall,
  options: Parameters<typeof context.streams.send>[1],
): Promise<RouteResponse> {
  if (request.method === "HEAD") return { text: "", type: "text/event-stream; charset=utf-8" };
  if (context.streams.count >= MAX_STREAMS) throw toTooManyConnections();
  await context.streams.send(response, options);
  return "sent";
}

/** A stream has no end, so there is nothing before which it could stop or from which it could read backwards. */
function refusePageOptions(options: Readonly<Record<string, unknown>>): void {
  const [first] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
  if (first === undefined) return;
  const at = `query.${first}`;
  throw new HttpRefusal("malformed", `${at}: streams start at \`after\` and go forwards: request a page of JSON`, {
    at,
  });
}

/** Last-Event-ID takes precedence over `after`: a browser that reconnects sends its real position there. */
function readCursor({ query: { after = 0 }, request }: EventsCall): number {
  const last = request.headers["last-event-id"];
  if (last === undefined || last === "") return after;
  if (typeof last === "string" && /^\d{1,15}$/.test(last)) return Number(last);
  throw new HttpRefusal("malformed", "the Last-Event-ID header is invalid: send a whole number", {
    at: "Last-Event-ID",
  });
}

function wantsStream({ request }: EventsCall): boolean {
  return /(?:^|,)\s*text\/event-stream\b/i.test(request.headers.accept ?? "");
}

function clampEventLimit({ query: { limit = DEFAULT_EVENTS } }: EventsCall): number {
  return Math.min(limit, MAX_EVENTS);
}

/** Such a client has read a different log, or a log that was restored from a backup. Continuing would hide that. */
function refuseBeyond(after: number, head: number): void {
  if (after <= head) return;
  throw new HttpRefusal(
    "beyond_end",
    `the cursor ${after} is beyond the end of the log at ${head}: read the log again from 0`,
    { head },
  );
}

const getSeq = ({ seq }: { readonly seq: number }): number => seq;
const getPosition = ({ position }: { readonly position: number }): number => position;

/** The ids of the sessions that start in this page. Few events are parsed. */
function findOpenedSessions(page: readonly FeedText[]): string[] {
  return page.flatMap(({ text }) => {
    if (!text.includes('"session.opened"')) return [];
    const event = JSON.parse(text) as LogEvent;
    return event.type === "session.opened" ? [event.sessionId] : [];
  });
}

function toEventLines<T extends { readonly text: string }>(
  pages: AsyncIterable<readonly T[]>,
  idOf: (item: T) => number,
  onPage: (page: readonly T[]) => void = () => undefined,
): AsyncIterable<readonly EventLine[]> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = pages[Symbol.asyncIterator]();
      const lines = (page: readonly T[]): EventLine[] => page.map((item) => ({ id: idOf(item), text: item.text }));
      return {
        async next() {
          const result = await iterator.next();
          if (result.done === true) return { done: true, value: undefined };
          onPage(result.value);
          return { done: false, value: lines(result.value) };
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
