/**
 * Renders prompt contributions by slot. A contribution for specific tools appears only while one of them is available.
 */
import { PROMPT_SLOTS, type PromptContribution } from "../domain/index.ts";
import { matchesToolName } from "./filter.ts";

/** Every model call pays for the preamble. Contributions that do not fit are left out, the last ones first. */
const MAX_PREAMBLE_CHARACTERS = 200_000;

export interface Preamble {
  readonly text: string;
  /** The titles of contributions that did not fit. */
  readonly leftOut: readonly string[];
}

export function renderPreamble(all: readonly PromptContribution[], tools: ReadonlyMap<string, unknown>): Preamble {
  const present = (pattern: string) =>
    pattern.endsWith("*") ? [...tools.keys()].some((name) => matchesToolName(name, pattern)) : tools.has(pattern);
  const kept = all
    .filter(({ content }) => content.trim() !== "")
    .filter((contribution) => contribution.tools === undefined || contribution.tools.some(present))
    .sort((a, b) => slotIndex(a) - slotIndex(b) || (b.priority ?? 0) - (a.priority ?? 0));
  const sections: string[] = [];
  const leftOut: string[] = [];
  let room = MAX_PREAMBLE_CHARACTERS;
  for (const { title, content } of kept) {
    const section = `## ${title}\n\n${content.trim()}`;
    room -= section.length;
    if (room >= 0) sections.push(section);
    else leftOut.push(title);
  }
  return { text: sections.join("\n\n"), leftOut };
}

/** Throws if a contribution is invalid, because it would break every turn. */
export function checkContributions(all: unknown): readonly PromptContribution[] {
  if (!Array.isArray(all)) throw new Error("contributions must be an array");
  for (const one of all as readonly (Partial<PromptContribution> | undefined)[]) {
    const { slot, title, content, priority = 0, tools = [] } = one ?? {};
    const texts = typeof title === "string" && typeof content === "string";
    const known = slot !== undefined && PROMPT_SLOTS.includes(slot);
    const gated = Array.isArray(tools) && tools.every((tool) => typeof tool === "string");
    if (texts && known && gated && Number.isFinite(priority)) continue;
    throw new Error(
      `the contribution ${JSON.stringify(String(title).slice(0, 80))} is invalid; check its slot, title, content, priority and tools`,
    );
  }
  return all as readonly PromptContribution[];
}

export function sameContributions(a: readonly PromptContribution[], b: readonly PromptContribution[]): boolean {
  return a.length === b.length && a.every((one, index) => contributionKey(one) === contributionKey(b[index]));
}

function contributionKey(contribution: PromptContribution | undefined): string {
  if (contribution === undefined) return "";
  const { slot, title, priority = 0, content, tools } = contribution;
  return JSON.stringify([slot, title, priority, content, tools ?? null]);
}

function slotIndex({ slot }: PromptContribution): number {
  return PROMPT_SLOTS.indexOf(slot);
}
