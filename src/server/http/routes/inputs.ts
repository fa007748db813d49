/** Routes for the inputs that wait in the queue of a session. */
import { readWithdrawnInput } from "../../../session/index.ts";
import { jsonResponse } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { InputIdParam, SessionId } from "../schema/common.ts";
import { SummarySchema } from "../schema/session.ts";
import { requireSummary } from "./sessions.ts";

export const inputRoutes: readonly HttpRoute[] = [
  route({
    method: "DELETE",
    path: "/v1/sessions/:id/inputs/:inputId",
    id: "withdrawInput",
    summary: "Withdraw a queued input before an agent gets it, even if another process drives the session.",
    tag: "sessions",
    params: { id: SessionId, inputId: InputIdParam },
    responses: { 200: { description: "The session. The withdrawal is durable.", schema: SummarySchema } },
    errors: ["session_not_found", "session_closed", "input_not_queued"],
    completion: {
      isEvent: (event, logId, { params: { id, inputId } }) =>
        logId === id && event.type === "input.withdrawn" && "inputId" in event && event.inputId === inputId,
      recall: async ({ id }, { context, params: { inputId } }) => {
        await readWithdrawnInput(context.rookery.store, id, inputId);
        return jsonResponse(await requireSummary(context, id));
      },
    },
    async handle({ context, params: { id, inputId } }) {
      await context.rookery.withdraw(id, inputId);
      return jsonResponse(await requireSummary(context, id));
    },
  }),
];
