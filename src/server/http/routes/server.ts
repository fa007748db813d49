/** Routes of the server itself: health, agents, metrics and the OpenAPI document. */
import { z } from "zod";
import { RookeryError } from "../../../domain/index.ts";
import { formatPrometheus, PROMETHEUS_TYPE } from "../../../telemetry/index.ts";
import { carriesToken, hasCredentials } from "../guard.ts";
import { collectMetrics } from "../server-metrics.ts";
import { HttpRefusal } from "../problem.ts";
import { jsonResponse } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { Folder } from "../schema/common.ts";
import { makeSignOut } from "../page/sign-in.ts";
import { AgentListSchema, HealthSchema, ReadySchema, TicketSchema } from "../schema/server.ts";

export const serverRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/health",
    id: "health",
    summary: "Check that the server is running. With the token, includes its state.",
    tag: "server",
    open: true,
    responses: { 200: { description: "The server is running.", schema: HealthSchema } },
    errors: [],
    async handle({ context, request }) {
      const basics = { ok: true, version: context.version };
      if (!hasCredentials(request, context.token)) return jsonResponse(basics);
      const { startedAt, sessions, streams, rookery } = context;
      const tasks = await rookery.store.countTasks();
      return jsonResponse({
        ...basics,
        pid: process.pid,
        startedAt,
        drivenSessions: sessions.count,
        streams: streams.count,
        tasks,
      });
    },
  }),
  route({
    method: "GET",
    path: "/v1/ready",
    id: "ready",
    summary:
      "Check that the server can answer requests: the store answers and has the right schema, and the server is not shutting down. 503 otherwise; with the token, the problem says why. For load balancers.",
    tag: "server",
    open: true,
    responses: { 200: { description: "The server can answer requests.", schema: ReadySchema } },
    errors: [],
    async handle({ context, request }) {
      const problem = await context.readiness.findProblem();
      if (problem === undefined) return jsonResponse({ ready: true });
      const reason = hasCredentials(request, context.token) ? `: ${problem}` : "";
      throw new HttpRefusal("not_ready", `the server is not ready${reason}`);
    },
  }),
  route({
    method: "GET",
    path: "/v1/agents",
    id: "agents",
    summary: "List the agents available in a folder, with the programs that they need.",
    tag: "server",
    query: {
      cwd: Folder.meta({ description: "A folder on the server's machine. Default: the server's working directory." }),
    },
    responses: {
      200: {
        description: "All agents, except those that an untrusted repository configures.",
        schema: AgentListSchema,
      },
    },
    errors: ["config_invalid", "cwd_missing"],
    async handle({ context, query }) {
      return jsonResponse({ agents: await context.agents({ ...(query.cwd !== undefined && { cwd: query.cwd }) }) });
    },
  }),
  route({
    method: "POST",
    path: "/v1/tickets",
    id: "makeTicket",
    summary: "Make a link that signs a browser in to the page, once and within a minute. Needs the token.",
    tag: "server",
    body: z.strictObject({}),
    responses: { 201: { description: "The link.", schema: TicketSchema } },
    errors: [],
    async handle({ context, request }) {
      if (!carriesToken(request, context.token)) {
        throw new RookeryError("unauthorized", "a page cannot make links that sign in: use rookery open");
      }
      const { ticket, expiresAt } = context.tickets.make();
      return jsonResponse({ url: context.signInUrl(ticket), expiresAt: new Date(expiresAt).toISOString() }, 201);
    },
  }),
  route({
    method: "POST",
    path: "/v1/sign-out",
    id: "signOut",
    summary: "Delete the cookie of the page in this browser.",
    tag: "server",
    body: z.strictObject({}),
    responses: { 204: { description: "The browser is signed out." } },
    errors: [],
    async handle({ request, response }) {
      response.writeHead(204, { "set-cookie": makeSignOut({ port: request.socket.localPort ?? 0 }) });
      response.end();
      return "sent";
    },
  }),
  route({
    method: "GET",
    path: "/metrics",
    id: "metrics",
    summary: "Metrics in the Prometheus text format.",
    tag: "server",
    responses: { 200: { description: "The metrics.", type: "text/plain" } },
    errors: [],
    async handle({ context }) {
      return { text: formatPrometheus(await collectMetrics(context)), type: PROMETHEUS_TYPE };
    },
  }),
  route({
    method: "GET",
    path: "/openapi.json",
    id: "openapi",
    summary: "This OpenAPI document.",
    tag: "server",
    responses: { 200: { description: "OpenAPI 3.1.", schema: z.record(z.string(), z.unknown()) } },
    errors: [],
    async handle({ context }) {
      const { openApiDocument } = await import("../document.ts"); // loading it is slow, and it is rarely requested
      return jsonResponse(openApiDocument(context.version));
    },
  }),
];
