/** Fits facts into one line: in the order of their priority, each is shown if it still fits. */
import { clipStyled, styledWidth } from "./styled-text.ts";

export interface StatusFact {
  readonly text: string;
  /** Facts with a higher priority are placed first. */
  readonly priority: number;
}

const SEPARATOR = " · ";

export function formatStatusLine(facts: readonly StatusFact[], width: number): string {
  const given = facts.filter(({ text }) => text !== "");
  const byPriority = given.toSorted((a, b) => b.priority - a.priority);
  const kept = new Set(byPriority.slice(0, 1));
  const joinKept = (...more: StatusFact[]): string =>
    joinFacts(given.filter((fact) => kept.has(fact) || more.includes(fact)));
  for (const fact of byPriority) if (styledWidth(joinKept(fact)) <= width) kept.add(fact);
  return clipStyled(joinKept(), width);
}

function joinFacts(facts: readonly StatusFact[]): string {
  return facts.map(({ text }) => text).join(SEPARATOR);
}
