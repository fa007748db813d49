/**
 * Renders prompt contributions by slot. A contribution for specific tools appears only while one of them is available.
 */
import { messageOf, PROMPT_SLOTS, type PromptContribution } from "../domain/index.ts";
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
  return Array.from(all as readonly (Partial<PromptContribution> | null | undefined)[], checkContribution);
}

/** Returns a copy, because the plugin may change the contribution, and a getter may throw when it is read again. */
function checkContribution(given: Partial<PromptContribution> | null | undefined): PromptContribution {
  const { slot, title, content, priority = 0, tools } = given ?? {};
  const names = Array.isArray(tools) ? Array.from<unknown>(tools) : [];
  const isGated = tools === undefined || (Array.isArray(tools) && names.every((name) => typeof name === "string"));
  const isText = typeof title === "string" && typeof content === "string";
  if (!isText || slot === undefined || !PROMPT_SLOTS.includes(slot) || !isGated || !Number.isFinite(priority)) {
    throw new Error(
      `the contribution ${JSON.stringify(messageOf(title).slice(0, 80))} is invalid; check its slot, title, content, priority and tools`,
    );
  }
  return { slot, title, content, priority, ...(tools !== undefined && { tools: names as string[] }) };
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
