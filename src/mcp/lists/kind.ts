/** Guesses what a tool does, for people: from its name, and not against what its server says of it. */
import type { ToolHints, ToolKind } from "../../domain/index.ts";

const WORDS: readonly (readonly [ToolKind, RegExp])[] = [
  ["delete", /^(delete|remove|drop|destroy|purge)$/],
  ["move", /^(move|rename)$/],
  ["edit", /^(write|edit|create|update|patch|insert|append|replace|set|put|add|apply)$/],
  ["execute", /^(run|exec|execute|eval|shell|bash|command|spawn)$/],
  ["search", /^(search|find|grep|query|lookup)$/],
  ["fetch", /^(fetch|download|browse|navigate|crawl|scrape)$/],
  ["think", /^(think|thinking|reason|reflect)$/],
  ["read", /^(read|get|list|view|show|describe|open|cat)$/],
];
const QUIET = new Set<ToolKind>(["read", "search", "fetch", "think"]);

export function kindOf(tool: string, { readOnly }: ToolHints): ToolKind {
  const words = tool
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const guesses = words.flatMap((word) => WORDS.find(([, pattern]) => pattern.test(word))?.[0] ?? []);
  const guess = guesses.find((kind) => readOnly === undefined || QUIET.has(kind) === readOnly);
  return guess ?? (readOnly === true ? "read" : "other");
}
