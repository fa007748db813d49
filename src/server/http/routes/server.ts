/** The server itself: is it there, what can it drive, what has it counted. */
import { z } from "zod";
import { carriesToken } from "../guard.ts";
import type { Sample } from "../metrics.ts";
import type { Door } from "../door.ts";
import { json, route, type Route } from "../route.ts";
import { Folder } from "../schema/common.ts";
import { AgentListSchema, HealthSchema } from "../schema/server.ts";

export const serverRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/health",
    id: "health",
    summary: "Is the server there? With the token, also what it does.",
    tag: "server",
    open: true,
    answers: { 200: { description: "It is.", schema: HealthSchema } },
    errors: [],
    async handle({ door, request }) {
      const told = { ok: true, version: door.version };
      if (!carriesToken(request, door.token)) return json(told);
      const { startedAt, driving, streams, served } = door;
      const tasks = await served.store.countTasks();
      return json({
        ...told,
        pid: process.pid,
        startedAt,
        drivenSessions: driving.count,
        streams: streams.count,
        tasks,
      });
    },
  }),
  route({
    method: "GET",
    path: "/v1/agents",
    id: "agents",
    summary: "What can be driven here, and what is known of its programs.",
    tag: "server",
    query: { cwd: Folder.meta({ description: "A folder of the server's machine; where it runs if not said." }) },
    answers: {
      200: { description: "All agents, those of an untrusted repository left out.", schema: AgentListSchema },
    },
    errors: ["config_invalid", "cwd_missing"],
    async handle({ door, query }) {
      return json({ agents: await door.agents({ cwd: query.cwd ?? process.cwd() }) });
    },
  }),
  route({
    method: "GET",
    path: "/metrics",
    id: "metrics",
    summary: "What is counted, in the text format of Prometheus.",
    tag: "server",
    answers: { 200: { description: "The counts.", type: "text/plain" } },
    errors: [],
    async handle({ door }) {
      return { text: door.metrics.text(await samples(door)), type: "text/plain; version=0.0.4; charset=utf-8" };
    },
  }),
  route({
    method: "GET",
    path: "/openapi.json",
    id: "openapi",
    summary: "This document.",
    tag: "server",
    answers: { 200: { description: "OpenAPI 3.1.", schema: z.record(z.string(), z.unknown()) } },
    errors: [],
    async handle({ door }) {
      const { openApiDocument } = await import("../document.ts"); // it takes a while, and few ask for it
      return json(openApiDocument(door.version));
    },
  }),
];

async function samples({ version, streams, connections, driving, once, served }: Door): Promise<Sample[]> {
  const phases = Object.entries(await served.store.countTasks());
  const { rss, heapUsed } = process.memoryUsage();
  const one = (name: string, type: Sample["type"], help: string, value: number): Sample => {
    return { name: `rookery_${name}`, type, help, values: [["", value]] };
  };
  return [
    { name: "rookery_info", type: "gauge", help: "What runs.", values: [[`version="${version}"`, 1]] },
    one("streams", "gauge", "Readers of streams.", streams.count),
    one("stream_logs", "gauge", "Logs that are followed for them.", streams.channels),
    one("stream_events_total", "counter", "Events that were sent in streams.", streams.sentEvents),
    one("stream_bytes_total", "counter", "Bytes that were sent in streams.", streams.sentBytes),
    {
      name: "rookery_connections",
      type: "gauge",
      help: "Open connections, by whether they have sent the token.",
      values: [
        ['authenticated="true"', connections.authenticated],
        ['authenticated="false"', connections.unauthenticated],
      ],
    },
    one("driven_sessions", "gauge", "Sessions that the server itself holds open.", driving.count),
    one("changes_underway", "gauge", "Requests that change something and are being done.", once.busy),
    {
      name: "rookery_tasks",
      type: "gauge",
      help: "Tasks by phase.",
      values: phases.map(([phase, count]) => [`phase="${phase}"`, count] as const),
    },
    one("memory_resident_bytes", "gauge", "Memory of the process.", rss),
    one("memory_heap_bytes", "gauge", "Of it, what is used of the heap.", heapUsed),
    one("uptime_seconds", "gauge", "Since the process began.", process.uptime()),
  ];
}
