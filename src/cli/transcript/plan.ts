/** Formats the plan of an agent: how much is done, and its items. */
import type { EventOf } from "../../domain/events.ts";
import type { Paint } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";

type PlanEntry = EventOf<"plan.updated">["entries"][number];

/** A longer plan shows the items around the first one that is not done. */
const MAX_ITEMS = 12;
const ITEM_LENGTH = 160;

const MARKS: Record<PlanEntry["status"], string> = { completed: "✓", in_progress: "›", pending: "·" };

/** Returns a heading and at most 14 lines of items. */
export function formatPlan(entries: readonly PlanEntry[], paint: Paint): string[] {
  const done = entries.filter(({ status }) => status === "completed").length;
  const open = entries.findIndex(({ status }) => status !== "completed");
  const first = Math.max(0, Math.min(open === -1 ? entries.length : open - 2, entries.length - MAX_ITEMS));
  const shown = entries.slice(first, first + MAX_ITEMS);
  const left = entries.length - first - shown.length;
  return [
    paint("dim", `plan: ${done} of ${entries.length} done`),
    ...(first === 0 ? [] : [paint("dim", `  … ${first} before`)]),
    ...shown.map((entry) => formatItem(entry, paint)),
    ...(left === 0 ? [] : [paint("dim", `  … ${left} more`)]),
  ];
}

function formatItem({ content, status }: PlanEntry, paint: Paint): string {
  const text = toSingleLine(content, ITEM_LENGTH);
  const mark = status === "completed" ? paint("green", MARKS[status]) : MARKS[status];
  return `  ${mark} ${status === "in_progress" ? text : paint("dim", text)}`;
}
