/** The Hono app: parses each request, calls its route handler, and turns every error into a problem response. */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono, type Context } from "hono";
import { RookeryError, type MadeEvent } from "../../domain/index.ts";
import type { EventMatcher } from "../../stdx/request-key.ts";
import type { HandlerContext } from "./handler-context.ts";
import { readBody, readParams, readQuery } from "./input.ts";
import { runWithKey } from "./kept-request.ts";
import { isPagePath } from "./page/respond.ts";
import { PROBLEM_TYPE, HttpRefusal, toProblem, toLogReason } from "./problem.ts";
import type { RouteResponse } from "./response.ts";
import type { HttpRoute } from "./route.ts";
import { ROUTES } from "./routes/index.ts";
import { MCP_METHODS, MCP_PATH } from "./task-mcp.ts";
import type { RequestRecord } from "./request-record.ts";

export type Bindings = HttpBindings & { readonly record: RequestRecord };
type App = Hono<{ Bindings: Bindings }>;

export function makeApp(context: HandlerContext): App {
  const app: App = new Hono();
  for (const route of ROUTES) {
    app.on(route.method, route.path, async (c) => {
      c.env.record.route = route.path;
      return toResponse(await handleCall(route, c, context));
    });
  }
  app.on(MCP_METHODS, MCP_PATH, async (c) => {
    c.env.record.route = MCP_PATH;
    const answers = parseAnswers(new URL(c.req.url).searchParams);
    await context.taskMcp.handle(c.env.incoming, c.env.outgoing, answers);
    return RESPONSE_ALREADY_SENT;
  });
  app.notFound((c) => {
    const { method, path } = c.req;
    const isPage = (method === "GET" || method === "HEAD") && isPagePath(path);
    return isPage ? context.page.respond(c.env.incoming, new URL(c.req.url)) : toErrorResponse(c, toNoRouteError(c));
  });
  app.onError((error, c) => toErrorResponse(c, error));
  return app;
}

async function handleCall(
  route: HttpRoute,
  c: Context<{ Bindings: Bindings }>,
  context: HandlerContext,
): Promise<RouteResponse> {
  const { incoming: request, outgoing: response } = c.env;
  const params = readParams(route, c.req.param());
  const search = new URL(c.req.url).searchParams;
  const query = readQuery(route, search);
  const body = await readBody(route, request);
  const call = { context, params, query, body, request, response };
  const handle = (): Promise<RouteResponse> => route.handle(call);
  if (route.method === "GET") return handle();
  const key = readIdempotencyKey(request.headers["idempotency-key"]);
  const fingerprint = key === undefined ? "" : JSON.stringify([route.id, params, query, body]);
  const waitMs = route.slow === true ? context.slowWaitMs : undefined;
  const handleWithKey = (digest: string): Promise<RouteResponse> => {
    if (key === undefined) return handle();
    const isCompletion: EventMatcher = (event, logId) => route.completion?.isEvent(event, logId, call) ?? false;
    const recall = (made: MadeEvent): Promise<RouteResponse> => route.completion?.recall(made, call) ?? handle();
    return runWithKey(context.rookery.store, { key, digest, isCompletion, recall, work: handle });
  };
  return (
    (await context.requests.run({ key, fingerprint, waitMs }, handleWithKey)) ?? {
      status: 202,
      json: { pending: true },
    }
  );
}

/** Whoever configures the URL of an MCP client decides whether its model may answer; the model cannot change it. */
function parseAnswers(search: URLSearchParams): boolean {
  const answers = search.get("answers") ?? "false";
  if (answers === "true" || answers === "false") return answers === "true";
  throw new HttpRefusal("malformed", "the parameter answers is invalid: use /mcp?answers=true or leave it out");
}

function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined || (typeof header === "string" && /^[\w-]{8,100}$/.test(header))) return header;
  throw new HttpRefusal("malformed", "the Idempotency-Key header is invalid: send 8 to 100 letters, digits, - or _", {
    at: "Idempotency-Key",
  });
}

const COMMON_HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

function toResponse(answer: RouteResponse): Response {
  if (answer === "sent") return RESPONSE_ALREADY_SENT;
  if ("text" in answer)
    return new Response(answer.text, { headers: { ...COMMON_HEADERS, "content-type": answer.type } });
  const headers = { ...COMMON_HEADERS, "content-type": "application/json; charset=utf-8" };
  return new Response(JSON.stringify(answer.json), { status: answer.status ?? 200, headers });
}

function toErrorResponse(c: Context<{ Bindings: Bindings }>, error: unknown): Response {
  const { record } = c.env;
  record.error = toLogReason(error);
  const { body, headers, status } = encodeRefusal(error, record.requestId);
  return new Response(status === 204 ? null : body, { status, headers });
}

/** Encodes an error response. Also used for requests that are refused before they reach a route. */
export function encodeRefusal(
  error: unknown,
  requestId: string,
): { readonly body: string; readonly headers: Record<string, string>; readonly status: number } {
  if (error instanceof OptionsRequest)
    return { body: "", headers: { ...COMMON_HEADERS, allow: error.allow }, status: 204 };
  const problem = toProblem(error, requestId);
  const body = JSON.stringify(problem);
  const more = error instanceof HttpRefusal ? error.headers : {};
  const challenge = problem.status === 401 && { "www-authenticate": 'Bearer realm="rookery"' };
  return {
    body,
    headers: { ...COMMON_HEADERS, "content-type": PROBLEM_TYPE, ...challenge, ...more },
    status: problem.status,
  };
}

/** Not an error: an OPTIONS request, answered with the allowed methods. */
class OptionsRequest extends Error {
  readonly allow: string;

  constructor(allow: string) {
    super();
    this.allow = allow;
  }
}

function toNoRouteError(c: Context<{ Bindings: Bindings }>): Error {
  const { method, path } = c.req;
  const methods = methodsAt(path);
  if (methods.length === 0)
    return new HttpRefusal("no_route", `no route for ${truncatePath(path)}: /openapi.json lists the routes`);
  const allow = methods.join(", ");
  if (method === "OPTIONS") return new OptionsRequest(allow);
  return new HttpRefusal(
    "wrong_method",
    `${truncatePath(path)} does not support ${method}: use ${allow}`,
    {},
    { allow },
  );
}

function methodsAt(path: string): string[] {
  const parts = path.split("/");
  const rows = ROUTES.filter((route) => {
    const pattern = route.path.split("/");
    return (
      pattern.length === parts.length &&
      pattern.every((part, at) => (part.startsWith(":") ? parts[at] !== "" : part === parts[at]))
    );
  });
  const methods: string[] = path === MCP_PATH ? [...MCP_METHODS] : [...new Set(rows.map(({ method }) => method))];
  if (methods.includes("GET")) methods.push("HEAD");
  return methods.length === 0 ? [] : [...methods, "OPTIONS"];
}

function truncatePath(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

export function toClosingError(): RookeryError {
  return new RookeryError("interrupted", "the server is shutting down: try again after it restarts");
}
