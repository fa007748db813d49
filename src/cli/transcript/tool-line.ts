/** Formats what a tool did and what a person answered, one line each. */
import type { EventOf, SessionEvent, ToolKind, ToolOutcome } from "../../domain/events.ts";
import { formatDuration } from "../format.ts";
import type { Color, Paint } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";

const TOOL_OUTCOMES: Record<ToolOutcome, { mark: string; color: Color; word: string }> = {
  ok: { mark: "✓", color: "green", word: "" },
  failed: { mark: "✗", color: "red", word: "failed" },
  denied: { mark: "⊘", color: "yellow", word: "denied" },
  cancelled: { mark: "⊘", color: "yellow", word: "cancelled" },
  timed_out: { mark: "✗", color: "red", word: "timed out" },
  unknown: { mark: "?", color: "yellow", word: "may or may not have run" },
};
const DETAIL_LENGTH = 120;
const ALLOWED_WORDS = { once: "allowed by you", session: "always allowed by you" } as const;

export interface StartedTool {
  readonly kind: ToolKind;
  /** When it started, without the time that a person needed to allow it. */
  readonly startedAt: string;
}

export interface EndedTool {
  readonly title: string;
  /** Undefined if its start is not known. */
  readonly tool: StartedTool | undefined;
  readonly event: SessionEvent & EventOf<"tool.ended">;
  /** The reason that a person gave for denying it. */
  readonly reason: string | undefined;
  /** How a person allowed it. Undefined if nobody was asked, or if the person who reads this just did. */
  readonly allowed?: "once" | "session" | undefined;
  /** Whether the turn was interrupted while a person was asked about it. Default: false. */
  readonly isInterrupted?: boolean;
}

export function formatToolLine(
  { title, tool, event, reason = "", allowed, isInterrupted = false }: EndedTool,
  paint: Paint,
): string {
  if (isInterrupted && event.outcome === "cancelled") return formatInterruptedCall(title, paint);
  const { mark, color, word } = TOOL_OUTCOMES[event.outcome];
  const exitCode = event.outcome === "failed" ? findExitCode(event.text) : undefined;
  const why = event.outcome === "failed" ? failureLine(event.text, tool) : event.outcome === "denied" ? reason : "";
  const detail = toSingleLine(why, DETAIL_LENGTH);
  const outcome =
    exitCode === undefined ? [word, detail].filter((part) => part !== "").join(": ") : `exit code ${exitCode}`;
  const result = [allowed === undefined ? "" : ALLOWED_WORDS[allowed], outcome]
    .filter((part) => part !== "")
    .join(", ");
  const how = `${result === "" ? "" : ` — ${result}`}${formatToolTime(tool, event)}`;
  return `${paint(color, mark)} ${title}${how === "" ? "" : paint("dim", how)}`;
}

/** A call that did not run, because the turn was interrupted at its permission question. */
export function formatInterruptedCall(title: string, paint: Paint): string {
  const { mark, color } = TOOL_OUTCOMES.cancelled;
  return `${paint(color, mark)} ${title}${paint("dim", " — interrupted")}`;
}

const ANSWER_LENGTH = 300;
const ANSWER_WORDS = { decline: "declined", cancel: "not answered" } as const;

export function formatAnswerLine(
  question: string,
  { action, content }: EventOf<"question.answered">,
  paint: Paint,
): string {
  const values = typeof content === "object" && content !== null ? Object.values(content) : [content ?? "accepted"];
  const said = action === "accept" ? values.map(formatAnswerValue).join(", ") : ANSWER_WORDS[action];
  return `${paint("yellow", "?")} ${toSingleLine(question, ANSWER_LENGTH)} → ${toSingleLine(said, ANSWER_LENGTH)}`;
}

function formatAnswerValue(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The time of a command, unless it rounds to nothing. Other tools are fast, or their time says nothing. */
function formatToolTime(tool: StartedTool | undefined, { at, outcome }: EventOf<"tool.ended">): string {
  if (tool?.kind !== "execute" || outcome === "denied" || outcome === "unknown") return "";
  const time = formatDuration(Date.parse(at) - Date.parse(tool.startedAt));
  return time === "0.0s" ? "" : ` · ${time}`;
}

/** Agents report it in the last line of the output (the built-in agent, Codex) or in the first (Claude Code). */
function findExitCode(text: string): string | undefined {
  const lines = text.trim().split("\n");
  for (const line of [lines.at(-1), lines[0]]) {
    const code = /^\[?exit code:? (\d+)\]?$/i.exec(line?.trim() ?? "")?.[1];
    if (code !== undefined && code !== "0") return code;
  }
  return undefined;
}

/** Commands end with their error. Other tools start with it, and add details such as the closest lines of a file. */
function failureLine(text: string, tool: StartedTool | undefined): string {
  const lines = text.trim().split("\n");
  return (tool === undefined || tool.kind === "execute" ? lines.at(-1) : lines[0]?.replace(/:$/, "")) ?? "";
}
