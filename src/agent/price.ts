/** What a reply of the model has used, as an event of the log. */
import type { EventBody } from "../domain/index.ts";
import { costOf, type ModelReply, type Price } from "../providers/index.ts";

export { costOf, type Price } from "../providers/index.ts";

type UsageReported = Extract<EventBody, { type: "usage.reported" }>;

export function usageEvent({ usage }: ModelReply, model: string, price: Price | undefined): UsageReported {
  const costUsd = costOf(usage, price);
  return { type: "usage.reported", model, ...usage, ...(costUsd !== undefined && { costUsd, costBy: "computed" }) };
}
