/** The route of the state of a session: a snapshot from which a reader of its events continues. */
import { jsonResponse } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { SessionId } from "../schema/common.ts";
import { SessionStateSchema } from "../schema/session-state.ts";
import { sessionStatesOf } from "../session-states.ts";
import { requireSummary } from "./sessions.ts";

export const sessionStateRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/sessions/:id/state",
    id: "sessionState",
    summary: "The state of a session: the fold of its events up to `head`.",
    tag: "sessions",
    params: { id: SessionId },
    responses: { 200: { description: "The state.", schema: SessionStateSchema } },
    errors: ["session_not_found", "log_corrupt", "store_corrupt"],
    async handle({ context, params: { id } }) {
      const { head } = await requireSummary(context, id);
      return jsonResponse(await sessionStatesOf(context.rookery.store).read(id, head));
    },
  }),
];
