/** Logs as pages for pollers and as streams for followers, with the same cursor for both. */
import { RookeryError, SessionEvent } from "../../../domain/index.ts";
import { Refusal, tooManyConnections } from "../problem.ts";
import { json, route, wholeNumber, type Answer, type Call, type Route, type Shape } from "../route.ts";
import { SessionId, TaskIdParam } from "../schema/common.ts";
import { EventPageSchema } from "../schema/session.ts";
import { FeedPageSchema, LogEventSchema } from "../schema/task.ts";
import type { Source } from "../stream/channel.ts";
import type { Line } from "../stream/piece.ts";
import { MAX_STREAMS } from "../stream/streams.ts";
import { summaryOf } from "./sessions.ts";

const DEFAULT_EVENTS = 1_000;
const MAX_EVENTS = 10_000;
/** A page is written as JSON in one piece, and so much takes some 20 ms. */
const MAX_BYTES = 4 * 1024 * 1024;

const query = {
  after: wholeNumber("What comes after this one; from the first if not said. Of a stream, Last-Event-ID is stronger."),
  limit: wholeNumber(
    `Of a page: at most so many; ${DEFAULT_EVENTS} if not said, ${MAX_EVENTS} at most. A page of large events has fewer: read on until \`head\`.`,
  ),
};

export const eventRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/sessions/:id/events",
    id: "sessionEvents",
    summary: "The log of a session: a page, or all that comes as a stream. The cursor is `seq`.",
    tag: "events",
    params: { id: SessionId },
    query,
    stream: SessionEvent,
    answers: { 200: { description: "A page, or a stream.", schema: EventPageSchema } },
    errors: ["session_not_found"],
    async handle(call) {
      const { door, params: { id: sessionId } } = call; // prettier-ignore
      const { store } = door.served;
      const after = cursorOf(call);
      const { head } = await summaryOf(door, sessionId);
      refuseBeyond(after, head);
      if (!wantsStream(call))
        return json(await store.read({ sessionId, after, limit: limitOf(call), maxBytes: MAX_BYTES }));
      const source: Source = (from, signal) => linesOf(store.followText({ sessionId, after: from, signal }), seqOf);
      return stream(call, { name: `session ${sessionId}`, after, source });
    },
  }),
  route({
    method: "GET",
    path: "/v1/tasks/:id/events",
    id: "taskEvents",
    summary: "Everything of a task and its sessions: a page, or all that comes as a stream. The cursor is a position.",
    tag: "events",
    params: { id: TaskIdParam },
    query,
    stream: LogEventSchema,
    answers: { 200: { description: "A page, or a stream.", schema: FeedPageSchema } },
    errors: ["task_not_found"],
    async handle(call) {
      const { door, params: { id: task } } = call; // prettier-ignore
      if ((await door.served.store.task(task)) === undefined) {
        throw new RookeryError("task_not_found", `there is no task ${task}: GET /v1/tasks lists them`);
      }
      return feed(call, task);
    },
  }),
  route({
    method: "GET",
    path: "/v1/events",
    id: "events",
    summary: "Everything, in the order in which it was committed: a page, or all that comes as a stream.",
    tag: "events",
    query,
    stream: LogEventSchema,
    answers: { 200: { description: "A page, or a stream.", schema: FeedPageSchema } },
    errors: [],
    handle: (call) => feed(call, undefined),
  }),
];

type Asked = Pick<Call<Shape, typeof query>, "door" | "query" | "request" | "response">;

async function feed(call: Asked, task: string | undefined): Promise<Answer> {
  const { store } = call.door.served;
  const after = cursorOf(call);
  if (!wantsStream(call)) {
    const page = await store.readFeed({ after, task, limit: limitOf(call), maxBytes: MAX_BYTES });
    refuseBeyond(after, page.head);
    const events = page.events.map(({ position, text }) => `{"position":${position},"event":${text}}`);
    return { text: `{"events":[${events.join(",")}],"head":${page.head}}`, type: "application/json; charset=utf-8" };
  }
  refuseBeyond(after, (await store.readFeed({ after, task, limit: 0 })).head);
  const source: Source = (from, signal) => linesOf(store.followFeed({ after: from, task, signal }), positionOf);
  return stream(call, { name: task === undefined ? "everything" : `task ${task}`, after, source });
}

async function stream(
  { door, request, response }: Asked,
  options: Parameters<typeof door.streams.send>[1],
): Promise<Answer> {
  if (request.method === "HEAD") return { text: "", type: "text/event-stream; charset=utf-8" };
  if (door.streams.count >= MAX_STREAMS) throw tooManyConnections();
  await door.streams.send(response, options);
  return "sent";
}

/** What a browser sends when it comes again is where it really is. */
function cursorOf({ query: { after = 0 }, request }: Asked): number {
  const last = request.headers["last-event-id"];
  if (last === undefined || last === "") return after;
  if (typeof last === "string" && /^\d{1,15}$/.test(last)) return Number(last);
  throw new Refusal("malformed", "Last-Event-ID: expected a whole number", { at: "Last-Event-ID" });
}

function wantsStream({ request }: Asked): boolean {
  return /(?:^|,)\s*text\/event-stream\b/i.test(request.headers.accept ?? "");
}

function limitOf({ query: { limit = DEFAULT_EVENTS } }: Asked): number {
  return Math.min(limit, MAX_EVENTS);
}

/** Whoever is there has read another log, or one that was since restored: going on would hide that from them. */
function refuseBeyond(after: number, head: number): void {
  if (after <= head) return;
  throw new Refusal("beyond_end", `the log ends at ${head}, and ${after} was asked for: read it anew from 0`, { head });
}

const seqOf = ({ seq }: { readonly seq: number }): number => seq;
const positionOf = ({ position }: { readonly position: number }): number => position;

function linesOf<T extends { readonly text: string }>(
  pages: AsyncIterable<readonly T[]>,
  idOf: (item: T) => number,
): AsyncIterable<readonly Line[]> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = pages[Symbol.asyncIterator]();
      const lines = (page: readonly T[]): Line[] => page.map((item) => ({ id: idOf(item), text: item.text }));
      return {
        async next() {
          const result = await iterator.next();
          return result.done === true ? { done: true, value: undefined } : { done: false, value: lines(result.value) };
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
