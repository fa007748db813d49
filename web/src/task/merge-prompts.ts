/** The prompts that ask an agent to make its branch mergeable. */
import { cleanOutput } from "../session/output.ts";

const MAX_FILES = 50;
const MAX_OUTPUT = 8_000;

export function formatConflictPrompt(into: string, conflicts: readonly string[]): string {
  const more = conflicts.length > MAX_FILES ? [`and ${conflicts.length - MAX_FILES} more`] : [];
  const files = [...conflicts.slice(0, MAX_FILES), ...more].map((file) => `- ${file}`).join("\n");
  return `Your branch conflicts with ${into}. Merge ${into} into your branch, resolve the conflicts so that the intent of both sides is kept, and commit the result.\n\nConflicting files:\n${files}`;
}

export function formatGatePrompt(into: string, output: string): string {
  const end = cleanOutput(output).trimEnd().slice(-MAX_OUTPUT);
  return `In a trial merge of your branch into ${into}, the check of the result failed. Merge ${into} into your branch, fix the failure, and commit the result.\n\nThe end of its output:\n\n${end}`;
}
