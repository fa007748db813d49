/** Routes of the server itself: health, agents, metrics and the OpenAPI document. */
import { z } from "zod";
import { RookeryError } from "../../../domain/index.ts";
import { carriesToken, hasCredentials } from "../guard.ts";
import type { Sample } from "../metrics.ts";
import type { HandlerContext } from "../handler-context.ts";
import { jsonResponse } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { Folder } from "../schema/common.ts";
import { makeSignOut } from "../page/sign-in.ts";
import { AgentListSchema, HealthSchema, TicketSchema } from "../schema/server.ts";

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
      return {
        text: context.metrics.format(await collectSamples(context)),
        type: "text/plain; version=0.0.4; charset=utf-8",
      };
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

async function collectSamples({
  version,
  streams,
  connections,
  sessions,
  requests,
  rookery,
}: HandlerContext): Promise<Sample[]> {
  const phases = Object.entries(await rookery.store.countTasks());
  const { rss, heapUsed } = process.memoryUsage();
  const one = (name: string, type: Sample["type"], help: string, value: number): Sample => {
    return { name: `rookery_${name}`, type, help, values: [["", value]] };
  };
  return [
    { name: "rookery_info", type: "gauge", help: "The version of the server.", values: [[`version="${version}"`, 1]] },
    one("streams", "gauge", "Open event streams.", streams.count),
    one("stream_logs", "gauge", "Logs that the server follows for open streams.", streams.channels),
    one("stream_events_total", "counter", "Events sent in streams.", streams.sentEvents),
    one("stream_bytes_total", "counter", "Bytes sent in streams.", streams.sentBytes),
    {
      name: "rookery_connections",
      type: "gauge",
      help: "Open connections, by whether the client has sent the token.",
      values: [
        ['authenticated="true"', connections.authenticated],
        ['authenticated="false"', connections.unauthenticated],
      ],
    },
    one("driven_sessions", "gauge", "Sessions that this server drives.", sessions.count),
    one("changes_underway", "gauge", "Running requests that change something.", requests.busy),
    {
      name: "rookery_tasks",
      type: "gauge",
      help: "Tasks by phase.",
      values: phases.map(([phase, count]) => [`phase="${phase}"`, count] as const),
    },
    one("memory_resident_bytes", "gauge", "Resident memory of the process.", rss),
    one("memory_heap_bytes", "gauge", "Used heap memory of the process.", heapUsed),
    one("uptime_seconds", "gauge", "Seconds since the process started.", process.uptime()),
  ];
}
