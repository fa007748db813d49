/** Guesses the kind of a tool from its name, for display. Never contradicts the server's read-only hint. */
import type { ToolHints, ToolKind } from "../../domain/index.ts";

const KIND_PATTERNS: readonly (readonly [ToolKind, RegExp])[] = [
  ["delete", /^(delete|remove|drop|destroy|purge)$/],
  ["move", /^(move|rename)$/],
  ["edit", /^(write|edit|create|update|patch|insert|append|replace|set|put|add|apply)$/],
  ["execute", /^(run|exec|execute|eval|shell|bash|command|spawn)$/],
  ["search", /^(search|find|grep|query|lookup)$/],
  ["fetch", /^(fetch|download|browse|navigate|crawl|scrape)$/],
  ["think", /^(think|thinking|reason|reflect)$/],
  ["read", /^(read|get|list|view|show|describe|open|cat)$/],
];
const READ_ONLY_KINDS = new Set<ToolKind>(["read", "search", "fetch", "think"]);

export function guessToolKind(tool: string, { readOnly }: ToolHints): ToolKind {
  const words = tool
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const guesses = words.flatMap((word) => KIND_PATTERNS.find(([, pattern]) => pattern.test(word))?.[0] ?? []);
  const guess = guesses.find((kind) => readOnly === undefined || READ_ONLY_KINDS.has(kind) === readOnly);
  return guess ?? (readOnly === true ? "read" : "other");
}
