/** Schemas of the usage of all sessions. */
import { z } from "zod";
import { TOKEN_COUNTS } from "./common.ts";

const sum = {
  ...TOKEN_COUNTS,
  knownCostUsd: z.number().describe("The cost of all tokens whose price is known."),
  costBy: z.enum(["reported", "computed", "mixed"]).optional().describe("Who computed the known cost."),
  unpricedTokens: z.int().describe("Number of tokens whose cost is unknown. If it is 0, the known cost is the whole."),
};

export const UsageRowSchema = z.object({
  day: z.string().optional().describe("Such as `2026-01-31`, in the time zone of the server."),
  agent: z.string().optional(),
  model: z.string().optional().describe("Omitted if it is unknown."),
  repository: z.string().optional().describe("The root of the repository, or the folder if it has none."),
  ...sum,
});

export const UsageReportSchema = z.object({
  since: z.string().optional().describe("The time after which usage counts."),
  timeZone: z.string(),
  rows: z.array(UsageRowSchema).describe("One row per combination of the requested dimensions, sorted by them."),
  total: z.object(sum),
  truncated: z.boolean().describe("True if rows are left out. The total is complete."),
});
