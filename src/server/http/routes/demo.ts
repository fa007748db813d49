/** The route that starts the demo task. */
import { jsonResponse } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { TaskSchema } from "../schema/task.ts";

export const demoRoutes: readonly HttpRoute[] = [
  route({
    method: "POST",
    path: "/v1/demo",
    id: "startDemo",
    summary: "Start the demo task: a scripted model fixes a failing test in a repository of its own. Needs no key.",
    tag: "tasks",
    responses: { 201: { description: "The queued task.", schema: TaskSchema } },
    errors: ["git_failed", "git_missing", "config_invalid"],
    completion: {
      isEvent: ({ type }) => type === "task.created",
      recall: async ({ id }, { context }) => jsonResponse(await context.rookery.tasks.show(id), 201),
    },
    async handle({ context }) {
      return jsonResponse(await context.rookery.startDemoTask(), 201);
    },
  }),
];
