/** Fits facts into one line: in the order of their priority, each is shown if it still fits, in full if there is room. */
import { clipStyled, styledWidth } from "./styled-text.ts";

export interface StatusFact {
  readonly text: string;
  /** Shown in place of the text if not all facts fit in full. Default: the text. */
  readonly short?: string;
  /** Facts with a higher priority are placed first. */
  readonly priority: number;
}

const SEPARATOR = " · ";

export function formatStatusLine(facts: readonly StatusFact[], width: number): string {
  const given = facts.filter(({ text }) => text !== "");
  const byPriority = given.toSorted((a, b) => b.priority - a.priority);
  const shown = new Map<StatusFact, string>();
  const join = (more: ReadonlyMap<StatusFact, string>): string =>
    given.flatMap((fact) => more.get(fact) ?? shown.get(fact) ?? []).join(SEPARATOR);
  const showIfItFits = (fact: StatusFact, text: string): void => {
    if (shown.size === 0 || styledWidth(join(new Map([[fact, text]]))) <= width) shown.set(fact, text);
  };
  for (const fact of byPriority) showIfItFits(fact, fact.short ?? fact.text);
  for (const fact of byPriority) if (shown.has(fact)) showIfItFits(fact, fact.text);
  return clipStyled(join(new Map()), width);
}
