/** The route of the usage of all sessions. */
import { z } from "zod";
import { USAGE_DIMENSIONS, type UsageDimension } from "../../../session/index.ts";
import { parsePointInTime } from "../../../stdx/point-in-time.ts";
import { HttpRefusal } from "../problem.ts";
import { jsonResponse } from "../response.ts";
import { route, textParam, type HttpRoute } from "../route.ts";
import { UsageReportSchema } from "../schema/usage.ts";
import { readUsageReport } from "../usage-report.ts";

const DEFAULT_DIMENSIONS: readonly UsageDimension[] = ["agent", "model"];

export const usageRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/usage",
    id: "usage",
    summary: "Sum the tokens and costs of all sessions.",
    tag: "sessions",
    query: {
      since: z
        .string()
        .min(1)
        .max(40)
        .meta({ description: "`30m`, `12h`, `7d`, `4w`, or a date such as `2026-01-31`. Default: everything." }),
      by: z.array(z.enum(USAGE_DIMENSIONS)).max(USAGE_DIMENSIONS.length).meta({
        description: "The dimensions of the rows. Repeat the parameter for combinations. Default: `agent` and `model`.",
      }),
      agent: textParam("Only usage of this agent."),
    },
    responses: { 200: { description: "The sums.", schema: UsageReportSchema } },
    errors: ["log_corrupt", "store_corrupt"],
    async handle({ context, query: { since, by = DEFAULT_DIMENSIONS, agent } }) {
      const at = since === undefined ? undefined : parseSinceParam(since);
      const report = await readUsageReport(context.rookery.store, { by: [...new Set(by)], agent, since: at });
      return jsonResponse(report);
    },
  }),
];

function parseSinceParam(text: string): number {
  const at = parsePointInTime(text, Date.now());
  if (at !== undefined && at >= 0) return at;
  throw new HttpRefusal("malformed", "query.since: expected 30m, 12h, 7d, 4w or a date such as 2026-01-31", {
    at: "query.since",
  });
}
