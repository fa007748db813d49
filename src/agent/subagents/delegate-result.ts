/** The result of a `delegate` call: one section per task, in the order of the tasks, within a maximum length. */
import {
  addUsage,
  NO_USAGE,
  type ChildEnd,
  type ToolResult,
  type TurnOutcome,
  type Usage,
} from "../../domain/index.ts";
import type { SubagentTask } from "./task-input.ts";

export interface FinishedTask {
  readonly task: SubagentTask;
  /** Undefined if the child never started. */
  readonly id: string | undefined;
  readonly end: ChildEnd;
}

/** Maximum length of all reports together, in characters. Each report gets an equal share. */
const MAX_REPORT_LENGTH = 48_000;

export function createDelegateResult(ends: readonly FinishedTask[], overBudget: boolean): ToolResult {
  const maxLength = Math.floor(MAX_REPORT_LENGTH / ends.length);
  const done = ends.filter(({ end }) => end.outcome.status === "done").length;
  const head = `${done} of ${ends.length} sub-agents completed.${formatUsedTokens(ends)}`;
  const why = overBudget ? " The others were stopped because the budget for sub-agents is used up." : "";
  const text = [head + why, ...ends.map((ended, index) => formatTask(ended, index, maxLength))].join("\n\n");
  return { outcome: done === 0 ? "failed" : "ok", text };
}

function formatTask({ task, id, end }: FinishedTask, index: number, maxLength: number): string {
  const session = id === undefined ? "not started" : `session ${id}`;
  const heading = `## ${index + 1}. ${task.title} (${formatTaskOutcome(end.outcome)}; ${session})`;
  return end.text === "" ? heading : `${heading}\n${omitReportMiddle(end.text, maxLength)}`;
}

function formatTaskOutcome(outcome: TurnOutcome): string {
  switch (outcome.status) {
    case "failed":
      return `failed: ${outcome.code}: ${outcome.message}`;
    case "stalled":
      return `stalled: ${outcome.message}`;
    case "done":
    case "cancelled":
      return outcome.status;
  }
}

/** Keeps the start, which names the subject, and the end, which has the conclusion. */
function omitReportMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const half = Math.floor(maxLength / 2);
  const left = text.length - 2 * half;
  const [begin, end] = [text.slice(0, half), text.slice(-half)];
  return `${begin.toWellFormed()}\n[… ${left} characters omitted; the session's log has them …]\n${end.toWellFormed()}`;
}

function formatUsedTokens(ends: readonly FinishedTask[]): string {
  const used = ends.flatMap(({ end }) => end.usage ?? []).reduce<Usage>((sum, one) => addUsage(sum, one), NO_USAGE);
  if (used === NO_USAGE) return "";
  const cost = used.costUsd === undefined ? "cost unknown" : `$${used.costUsd.toFixed(4)}`;
  return ` They used ${used.inputTokens} input tokens and ${used.outputTokens} output tokens (${cost}).`;
}
