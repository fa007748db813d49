/** The route of the file changes of a session or a turn. */
import { jsonResponse } from "../response.ts";
import { flagParam, route, type HttpRoute } from "../route.ts";
import { RequestIdParam, SessionId } from "../schema/common.ts";
import { SessionDiffSchema } from "../schema/task.ts";
import { readSessionDiff } from "../session-diff.ts";

export const sessionDiffRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/sessions/:id/diff",
    id: "diffSession",
    summary: "Show the changes that the tools of a session made to files, as recorded in its log.",
    tag: "sessions",
    params: { id: SessionId },
    query: {
      turn: RequestIdParam.meta({ description: "Only changes of this turn. Default: of all turns." }),
      patch: flagParam("Include the patch in git format."),
    },
    responses: {
      200: {
        description: "The changes, including those of sub-agents, but without files that commands changed.",
        schema: SessionDiffSchema,
      },
    },
    errors: ["session_not_found", "log_corrupt", "store_corrupt"],
    async handle({ context, params: { id }, query: { turn, patch } }) {
      return jsonResponse(await readSessionDiff(context.rookery.store, id, { turnId: turn, patch }));
    },
  }),
];
