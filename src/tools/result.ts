/** What came of a call, as the log takes it: looked at where it comes from code that is not ours, or from before a crash. */
import { z } from "zod";
import { BlobPart, FileDiff, Location, messageOf, ToolOutcome, type ToolResult } from "../domain/index.ts";

/** Built when it is first used. */
export const Result = z.lazy(() =>
  z.object({
    outcome: ToolOutcome,
    text: z.string(),
    locations: z.array(Location).optional(),
    diffs: z.array(FileDiff).optional(),
    blobs: z.array(BlobPart).optional(),
    structured: z.unknown().optional(),
  }),
) as z.ZodType<ToolResult>;

/** Throws in words: one wrong result in the log, and nobody could read the session any more. */
export function checkedResult(given: unknown): ToolResult {
  const parsed = Result.safeParse(given);
  if (!parsed.success) throw new Error(`its result is none: ${z.prettifyError(parsed.error)}`);
  const { structured, text, ...others } = parsed.data;
  const result = { ...others, text: boundedText(text) };
  if (structured === undefined) return result;
  return { ...result, structured: plainJson(structured, "its structured result") };
}

/** A longer text would fill the context of most models, in this turn and in every later one. */
const MAX_TEXT_LENGTH = 100_000;

function boundedText(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  const left = text.length - MAX_TEXT_LENGTH;
  return `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}\n[${left} more characters were left out]`;
}

/** No JSON that people or models read nests as deeply, and no store keeps more than 1,000 levels. */
const MAX_DEPTH = 500;

/**
 * A copy of the value as JSON has it, without getters, proxies and `toJSON`. Throws if the value is no JSON, or nests more
 * than 500 levels deep.
 */
export function plainJson(value: unknown, what: string): unknown {
  const copy: unknown = JSON.parse(jsonText(value, what));
  let level = [copy];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw new Error(`${what} nests more than ${MAX_DEPTH} levels deep`);
    level = level.flatMap(
      (item) => (typeof item === "object" && item !== null ? Object.values(item) : []) as unknown[],
    );
  }
  return copy;
}

export function jsonText(value: unknown, what: string): string {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) return text;
  } catch (cause) {
    throw new Error(`${what} is no JSON: ${messageOf(cause).split("\n", 1)[0] ?? ""}`, { cause });
  }
  throw new Error(`${what} is no JSON`);
}
