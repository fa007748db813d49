/** Creates the log event for the tokens that a reply of the model used. */
import type { EventBody } from "../domain/index.ts";
import { computeCost, type ModelReply, type ModelPrice } from "../providers/index.ts";

export { computeCost, type ModelPrice } from "../providers/index.ts";

type UsageReported = Extract<EventBody, { type: "usage.reported" }>;

export function createUsageEvent({ usage }: ModelReply, model: string, price: ModelPrice | undefined): UsageReported {
  const costUsd = computeCost(usage, price);
  return { type: "usage.reported", model, ...usage, ...(costUsd !== undefined && { costUsd, costBy: "computed" }) };
}
