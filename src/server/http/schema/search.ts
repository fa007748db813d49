/** The schema of search results. */
import { z } from "zod";

export const SearchResultSchema = z.object({
  matches: z
    .array(
      z.object({
        sessionId: z.string(),
        seq: z.int().describe("The `seq` of the event."),
        at: z.string(),
        type: z.string().describe("The type of the event."),
        title: z.string().optional().describe("The title of the session."),
        task: z.string().optional().describe("The task that the session belongs to."),
        excerpt: z.string().describe("The text around the first word."),
      }),
    )
    .describe("Newest session first; within a session, newest event first."),
  next: z.string().optional().describe("Pass it as `cursor` to continue. Not set if everything was searched."),
});
