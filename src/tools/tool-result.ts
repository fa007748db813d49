/** Validates tool results from foreign code and from the journal before they reach the log. */
import { z } from "zod";
import { BlobPart, FileDiff, Location, messageOf, ToolOutcome, type ToolResult } from "../domain/index.ts";

/** Lazy, because building the schema is slow. */
export const ToolResultSchema = z.lazy(() =>
  z.object({
    outcome: ToolOutcome,
    text: z.string(),
    locations: z.array(Location).optional(),
    diffs: z.array(FileDiff).optional(),
    blobs: z.array(BlobPart).optional(),
    structured: z.unknown().optional(),
  }),
) as z.ZodType<ToolResult>;

/** Throws if the result is invalid, because one invalid result in the log makes the session unreadable. */
export function validateToolResult(given: unknown): ToolResult {
  const parsed = ToolResultSchema.safeParse(given);
  if (!parsed.success) throw new Error(`invalid tool result: ${z.prettifyError(parsed.error)}`);
  const { structured, text, ...others } = parsed.data;
  const result = { ...others, text: truncateText(text) };
  if (structured === undefined) return result;
  return { ...result, structured: toPlainJson(structured, "the structured result") };
}

/** A longer text would fill the context of most models, in this turn and in every later one. */
const MAX_TEXT_LENGTH = 100_000;

function truncateText(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  const omitted = text.length - MAX_TEXT_LENGTH;
  return `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}\n[${omitted} more characters were omitted]`;
}

/** Deeper than any JSON for people or models; a store accepts at most 1,000 levels. */
const MAX_DEPTH = 500;

/**
 * Returns a copy of the value as plain JSON, without getters, proxies and `toJSON`. Throws if the value cannot be
 * serialized, or is nested more than 500 levels deep.
 */
export function toPlainJson(value: unknown, what: string): unknown {
  const copy: unknown = JSON.parse(stringifyJson(value, what));
  let level = [copy];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw new Error(`${what} is nested more than ${MAX_DEPTH} levels deep`);
    level = level.flatMap(
      (item) => (typeof item === "object" && item !== null ? Object.values(item) : []) as unknown[],
    );
  }
  return copy;
}

export function stringifyJson(value: unknown, what: string): string {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) return text;
  } catch (cause) {
    throw new Error(`cannot serialize ${what} as JSON: ${messageOf(cause).split("\n", 1)[0] ?? ""}`, { cause });
  }
  throw new Error(`cannot serialize ${what} as JSON`);
}
