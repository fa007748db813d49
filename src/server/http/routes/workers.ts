/** Worker routes: list the workers of all hosts, drain and stop them. */
import type { WorkerRequest } from "../../../domain/index.ts";
import { jsonResponse } from "../response.ts";
import { route, textParam, type HttpRoute } from "../route.ts";
import { WorkerListSchema } from "../schema/worker.ts";

const params = { id: textParam("The id of a worker, or a host for all workers on it.") };

function askRoute(request: WorkerRequest, id: string, summary: string): HttpRoute {
  return route({
    method: "POST",
    path: `/v1/workers/:id/${request}`,
    id,
    summary,
    tag: "server",
    params,
    responses: { 200: { description: "The workers that were asked.", schema: WorkerListSchema } },
    errors: ["worker_not_found"],
    async handle({ context, params: { id: target } }) {
      return jsonResponse({ workers: await context.rookery.askWorkers(target, request) });
    },
  });
}

export const workerRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/workers",
    id: "listWorkers",
    summary: "List the workers of all hosts: what they run, ready agents, labels, version and state.",
    tag: "server",
    responses: { 200: { description: "All workers, including lost ones.", schema: WorkerListSchema } },
    errors: [],
    async handle({ context }) {
      return jsonResponse({ workers: await context.rookery.workers() });
    },
  }),
  askRoute("drain", "drainWorker", "Ask a worker to take no new work, finish what runs, and exit."),
  askRoute("stop", "stopWorker", "Ask a worker to hand over what runs, and exit."),
];
