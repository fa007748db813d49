/** Wraps the notes of a transcript at words. Messages and diffs keep their lines. */
import type { SessionEvent } from "../../domain/events.ts";
import { wrapText } from "../wrap.ts";

const WRAPPED_TYPES: ReadonlySet<SessionEvent["type"]> = new Set<SessionEvent["type"]>([
  "notice",
  "mcp.status",
  "turn.parked",
  "turn.continued",
  "turn.ended",
  "budget.raised",
  "permission.resolved",
  "permission.revoked",
  "agent.switched",
  "subagent.started",
  "subagent.ended",
  "plan.updated",
  "question.answered",
  "input.delivered",
  "context.compacted",
]);

/** `text`: what the event prints. `width`: the columns of the terminal, or undefined for a pipe. */
export function wrapEventText({ type }: SessionEvent, text: string, width: number | undefined): string {
  if (WRAPPED_TYPES.has(type)) return wrapText(text, { width });
  return type === "tool.ended" ? wrapTitle(text, width) : text;
}

/** The title of a tool is above its diff, which fits already. */
function wrapTitle(text: string, width: number | undefined): string {
  const [, start = "", title = "", rest = ""] = /^(\n?)([^\n]*)(.*)$/s.exec(text) ?? [];
  return start + wrapText(title, { width }) + rest;
}
