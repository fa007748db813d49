/** Fits facts into one line: those with the lowest priority are left out first. */
import { clipStyled, styledWidth } from "./styled-text.ts";

export interface StatusFact {
  readonly text: string;
  /** Facts with a higher priority stay longer. */
  readonly priority: number;
}

const SEPARATOR = " · ";

export function formatStatusLine(facts: readonly StatusFact[], width: number): string {
  let kept = facts.filter(({ text }) => text !== "");
  while (kept.length > 1 && styledWidth(joinFacts(kept)) > width) {
    const least = Math.min(...kept.map(({ priority }) => priority));
    const index = kept.findLastIndex(({ priority }) => priority === least);
    kept = kept.filter((_, at) => at !== index);
  }
  return clipStyled(joinFacts(kept), width);
}

function joinFacts(facts: readonly StatusFact[]): string {
  return facts.map(({ text }) => text).join(SEPARATOR);
}
