/** Validates tool results from foreign code and from the journal before they reach the log. */
import { z } from "zod";
import { BlobPart, FileDiff, Location, ToolOutcome, type ToolResult } from "../domain/index.ts";

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
  const { structured } = parsed.data;
  if (structured !== undefined) stringifyJson(structured, "the structured result");
  return parsed.data;
}

export function stringifyJson(value: unknown, what: string): string {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) return text;
  } catch (cause) {
    throw new Error(`cannot serialize ${what} as JSON`, { cause });
  }
  throw new Error(`cannot serialize ${what} as JSON`);
}
