/** What came of a call, as the log takes it: looked at where it comes from code that is not ours, or from before a crash. */
import { z } from "zod";
import { BlobPart, FileDiff, Location, ToolOutcome, type ToolResult } from "../domain/index.ts";

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
  const { structured } = parsed.data;
  if (structured !== undefined) jsonText(structured, "its structured result");
  return parsed.data;
}

export function jsonText(value: unknown, what: string): string {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) return text;
  } catch (cause) {
    throw new Error(`${what} is no JSON`, { cause });
  }
  throw new Error(`${what} is no JSON`);
}
