/** The route that searches the logs. */
import { z } from "zod";
import { RookeryError } from "../../../domain/index.ts";
import { DEFAULT_MATCHES, searchSessions, type SearchCursor } from "../../../session/index.ts";
import { jsonResponse } from "../response.ts";
import { route, wholeNumberParam, type HttpRoute } from "../route.ts";
import { SearchResultSchema } from "../schema/search.ts";

const MAX_MATCHES = 100;
const CURSOR = /^(ses_[0-9a-zA-Z_-]{1,100})\.(\d{1,15})$/;

const query = {
  q: z
    .string()
    .min(1)
    .max(500)
    .meta({ description: "Required. Words that must all be in the text of one event. Case does not matter." }),
  cursor: z
    .string()
    .regex(CURSOR, "expected `next` of the previous page")
    .meta({ description: "Continues the search: `next` of the previous page." }),
  limit: wholeNumberParam(`Maximum number of matches. Default: ${DEFAULT_MATCHES}, at most ${MAX_MATCHES}.`),
};

export const searchRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/search",
    id: "search",
    summary: "Search prompts, messages, tool calls and their output in the logs of all sessions.",
    tag: "events",
    query,
    responses: {
      200: {
        description:
          "Matches of the newest sessions. A page may be empty and still have `next`, because the search pauses.",
        schema: SearchResultSchema,
      },
    },
    errors: [],
    async handle({ context, query: { q, cursor, limit = DEFAULT_MATCHES } }) {
      if (q === undefined) throw new RookeryError("input_invalid", "the parameter q is missing: pass the words in it");
      const { matches, next } = await searchSessions(context.rookery.store, {
        text: q,
        cursor: parseCursor(cursor),
        limit: Math.max(1, Math.min(limit, MAX_MATCHES)),
      });
      return jsonResponse({ matches, next: next && `${next.sessionId}.${next.before}` });
    },
  }),
];

function parseCursor(text: string | undefined): SearchCursor | undefined {
  const [, sessionId, before] = CURSOR.exec(text ?? "") ?? [];
  return sessionId === undefined ? undefined : { sessionId, before: Number(before) };
}
