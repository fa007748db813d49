/** What the model is told of its sub-agents: in the order in which it asked for them, and not too much. */
import {
  addUsage,
  NO_USAGE,
  type ChildEnd,
  type ToolResult,
  type TurnOutcome,
  type Usage,
} from "../../domain/index.ts";
import type { Task } from "./input.ts";

export interface Ended {
  readonly task: Task;
  /** Undefined where it was never begun. */
  readonly id: string | undefined;
  readonly end: ChildEnd;
}

/** Of all of them together, in characters; each has its part of it. */
const LENGTH = 48_000;

export function resultOf(ends: readonly Ended[], overBudget: boolean): ToolResult {
  const most = Math.floor(LENGTH / ends.length);
  const done = ends.filter(({ end }) => end.outcome.status === "done").length;
  const head = `${done} of ${ends.length} sub-agents are done.${usedWords(ends)}`;
  const why = overBudget ? " They were stopped because they have used all that they may." : "";
  const text = [head + why, ...ends.map((ended, index) => section(ended, index, most))].join("\n\n");
  return { outcome: done === 0 ? "failed" : "ok", text };
}

function section({ task, id, end }: Ended, index: number, most: number): string {
  const where = id === undefined ? "not begun" : `session ${id}`;
  const heading = `## ${index + 1}. ${task.title} (${outcomeWords(end.outcome)}; ${where})`;
  return end.text === "" ? heading : `${heading}\n${shortened(end.text, most)}`;
}

function outcomeWords(outcome: TurnOutcome): string {
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

/** The end of a report says what it came to, and its beginning what it is about. */
function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const left = text.length - 2 * half;
  const [begin, end] = [text.slice(0, half), text.slice(-half)];
  return `${begin.toWellFormed()}\n[… ${left} characters are left out; its session has them …]\n${end.toWellFormed()}`;
}

function usedWords(ends: readonly Ended[]): string {
  const used = ends.flatMap(({ end }) => end.usage ?? []).reduce<Usage>((sum, one) => addUsage(sum, one), NO_USAGE);
  if (used === NO_USAGE) return "";
  const cost = used.costUsd === undefined ? "cost unknown" : `$${used.costUsd.toFixed(4)}`;
  return ` They used ${used.inputTokens} tokens in and ${used.outputTokens} out (${cost}).`;
}
