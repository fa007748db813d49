/** The route of the roster: a snapshot of all sessions and tasks. */
import { readRoster } from "../roster.ts";
import { jsonResponse } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { RosterSchema } from "../schema/roster.ts";

export const rosterRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/roster",
    id: "roster",
    summary: "A snapshot of all sessions and tasks, with the position from which to follow their events.",
    tag: "events",
    responses: { 200: { description: "The sessions and tasks, newest first.", schema: RosterSchema } },
    errors: [],
    async handle({ context }) {
      const roster = await readRoster(context.rookery.store, new Date());
      context.streams.deletionWatch.addRoster(roster.sessions.map(({ id }) => id));
      return jsonResponse(roster);
    },
  }),
];
