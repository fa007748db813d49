/** The routes on Hono: each request is read, checked, done and answered, and whatever goes wrong becomes a problem. */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono, type Context } from "hono";
import { RookeryError, type MadeEvent } from "../../domain/index.ts";
import type { EventMatcher } from "../../stdx/request-key.ts";
import type { Door } from "./door.ts";
import { readBody, readParams, readQuery } from "./input.ts";
import { doOnce } from "./kept-request.ts";
import { PROBLEM_TYPE, Refusal, problemOf, reasonOf } from "./problem.ts";
import type { Answer, Route } from "./route.ts";
import { ROUTES } from "./routes/index.ts";
import type { Visit } from "./visit.ts";

export type Bindings = HttpBindings & { readonly visit: Visit };
type App = Hono<{ Bindings: Bindings }>;

export function makeApp(door: Door): App {
  const app: App = new Hono();
  for (const row of ROUTES) {
    app.on(row.method, row.path, async (c) => {
      c.env.visit.route = row.path;
      return responseTo(await answerOf(row, c, door));
    });
  }
  app.notFound((c) => failed(c, unrouted(c)));
  app.onError((error, c) => failed(c, error));
  return app;
}

async function answerOf(row: Route, c: Context<{ Bindings: Bindings }>, door: Door): Promise<Answer> {
  const { incoming: request, outgoing: response } = c.env;
  const params = readParams(row, c.req.param());
  const search = new URL(c.req.url).searchParams;
  const query = readQuery(row, search);
  const body = await readBody(row, request);
  const call = { door, params, query, body, request, response };
  const work = (): Promise<Answer> => row.handle(call);
  if (row.method === "GET") return work();
  const key = keyOf(request.headers["idempotency-key"]);
  const what = key === undefined ? "" : JSON.stringify([row.id, params, query, body]);
  const waitMs = row.slow === true ? door.patienceMs : undefined;
  const keyed = (digest: string): Promise<Answer> => {
    if (key === undefined) return work();
    const isMade: EventMatcher = (event, logId) => row.made?.isEvent(event, logId, call) ?? false;
    const recall = (made: MadeEvent): Promise<Answer> => row.made?.recall(made, call) ?? work();
    return doOnce(door.served.store, { key, digest, isMade, recall, work });
  };
  return (await door.once.ask({ key, what, waitMs }, keyed)) ?? { status: 202, json: { pending: true } };
}

function keyOf(given: string | string[] | undefined): string | undefined {
  if (given === undefined || (typeof given === "string" && /^[\w-]{8,100}$/.test(given))) return given;
  throw new Refusal("malformed", "Idempotency-Key: expected 8 to 100 letters, digits, - and _", {
    at: "Idempotency-Key",
  });
}

const COMMON = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

function responseTo(answer: Answer): Response {
  if (answer === "sent") return RESPONSE_ALREADY_SENT;
  if ("text" in answer) return new Response(answer.text, { headers: { ...COMMON, "content-type": answer.type } });
  const headers = { ...COMMON, "content-type": "application/json; charset=utf-8" };
  return new Response(JSON.stringify(answer.json), { status: answer.status ?? 200, headers });
}

function failed(c: Context<{ Bindings: Bindings }>, error: unknown): Response {
  const { visit } = c.env;
  visit.error = reasonOf(error);
  const { body, headers, status } = refusalOf(error, visit.requestId);
  return new Response(status === 204 ? null : body, { status, headers });
}

/** As bytes and headers, also for what is refused before it comes to a route. */
export function refusalOf(
  error: unknown,
  requestId: string,
): { readonly body: string; readonly headers: Record<string, string>; readonly status: number } {
  if (error instanceof Options) return { body: "", headers: { ...COMMON, allow: error.allow }, status: 204 };
  const problem = problemOf(error, requestId);
  const body = JSON.stringify(problem);
  const more = error instanceof Refusal ? error.headers : {};
  const challenge = problem.status === 401 && { "www-authenticate": 'Bearer realm="rookery"' };
  return { body, headers: { ...COMMON, "content-type": PROBLEM_TYPE, ...challenge, ...more }, status: problem.status };
}

/** Nothing went wrong: someone asks what there is. */
class Options extends Error {
  readonly allow: string;

  constructor(allow: string) {
    super();
    this.allow = allow;
  }
}

function unrouted(c: Context<{ Bindings: Bindings }>): Error {
  const { method, path } = c.req;
  const methods = methodsAt(path);
  if (path === "/") {
    return new Refusal("no_route", "there is no page here yet: the API is under /v1 and described at /openapi.json");
  }
  if (methods.length === 0) return new Refusal("no_route", `there is no ${shortened(path)}: see /openapi.json`);
  const allow = methods.join(", ");
  if (method === "OPTIONS") return new Options(allow);
  return new Refusal("wrong_method", `${shortened(path)} takes ${allow}, not ${method}`, {}, { allow });
}

function methodsAt(path: string): string[] {
  const given = path.split("/");
  const rows = ROUTES.filter((row) => {
    const wanted = row.path.split("/");
    return (
      wanted.length === given.length &&
      wanted.every((part, at) => (part.startsWith(":") ? given[at] !== "" : part === given[at]))
    );
  });
  const methods: string[] = [...new Set(rows.map(({ method }) => method))];
  if (methods.includes("GET")) methods.push("HEAD");
  return methods.length === 0 ? [] : [...methods, "OPTIONS"];
}

function shortened(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

export function closing(): RookeryError {
  return new RookeryError("interrupted", "the server is closing: try again when it is back");
}
