/** What is said to a model beside its tools: contributions in slots, each kept only while its tools are there. */
import { messageOf, PROMPT_SLOTS, type PromptContribution } from "../domain/index.ts";
import { named } from "./filter.ts";

/** A preamble is paid for with every call of the model; what does not fit into it is left out, the last first. */
const PREAMBLE_CHARACTERS = 200_000;

export interface Preamble {
  readonly text: string;
  /** The titles of what did not fit. */
  readonly leftOut: readonly string[];
}

export function renderPreamble(all: readonly PromptContribution[], tools: ReadonlyMap<string, unknown>): Preamble {
  const present = (pattern: string) =>
    pattern.endsWith("*") ? [...tools.keys()].some((name) => named(name, pattern)) : tools.has(pattern);
  const kept = all
    .filter(({ content }) => content.trim() !== "")
    .filter((contribution) => contribution.tools === undefined || contribution.tools.some(present))
    .sort((a, b) => slotOf(a) - slotOf(b) || (b.priority ?? 0) - (a.priority ?? 0));
  const sections: string[] = [];
  const leftOut: string[] = [];
  let room = PREAMBLE_CHARACTERS;
  for (const { title, content } of kept) {
    const section = `## ${title}\n\n${content.trim()}`;
    room -= section.length;
    if (room >= 0) sections.push(section);
    else leftOut.push(title);
  }
  return { text: sections.join("\n\n"), leftOut };
}

/** Throws in words: one that cannot be said would break every turn. */
export function checkContributions(all: unknown): readonly PromptContribution[] {
  if (!Array.isArray(all)) throw new Error("its contributions are not a list");
  return Array.from(all as readonly (Partial<PromptContribution> | null | undefined)[], checkContribution);
}

/** A copy: whoever gave it may change it, and a getter may throw when it is read again. */
function checkContribution(given: Partial<PromptContribution> | null | undefined): PromptContribution {
  const { slot, title, content, priority = 0, tools } = given ?? {};
  const names = Array.isArray(tools) ? Array.from<unknown>(tools) : [];
  const isGated = tools === undefined || (Array.isArray(tools) && names.every((name) => typeof name === "string"));
  const isText = typeof title === "string" && typeof content === "string";
  if (!isText || slot === undefined || !PROMPT_SLOTS.includes(slot) || !isGated || !Number.isFinite(priority)) {
    throw new Error(`a contribution ${JSON.stringify(messageOf(title).slice(0, 80))} cannot be said`);
  }
  return { slot, title, content, priority, ...(tools !== undefined && { tools: names as string[] }) };
}

export function sameContributions(a: readonly PromptContribution[], b: readonly PromptContribution[]): boolean {
  return a.length === b.length && a.every((one, index) => textOf(one) === textOf(b[index]));
}

function textOf(contribution: PromptContribution | undefined): string {
  if (contribution === undefined) return "";
  const { slot, title, priority = 0, content, tools } = contribution;
  return JSON.stringify([slot, title, priority, content, tools ?? null]);
}

function slotOf({ slot }: PromptContribution): number {
  return PROMPT_SLOTS.indexOf(slot);
}
