/** What an edit changes, from what the model asked for, where the program itself does not tell it. */
import { z } from "zod";
import type { FileDiff } from "../../domain/index.ts";

const text = z.string();
/** As opencode 1.18 and Gemini CLI 0.61 name it, and others. */
const Input = z.object({
  path: text.optional(),
  filePath: text.optional(),
  file_path: text.optional(),
  content: text.optional(),
  oldString: text.optional(),
  newString: text.optional(),
  old_string: text.optional(),
  new_string: text.optional(),
});

/** A longer text of a file is left out of the log, and said so. */
const DIFF_LENGTH = 256 * 1024;

/** Of a part of a file where it is a part that is replaced; what a file held before it was written whole is not known. */
export function editOf(input: unknown): FileDiff | undefined {
  const { data } = Input.safeParse(input);
  const path = data?.filePath ?? data?.file_path ?? data?.path;
  if (data === undefined || path === undefined) return undefined;
  const before = data.oldString ?? data.old_string;
  const after = data.newString ?? data.new_string;
  if (before !== undefined && after !== undefined) return bounded({ path, before, after });
  return data.content === undefined ? undefined : bounded({ path, before: null, after: data.content });
}

function bounded(diff: FileDiff): FileDiff {
  const { path, before, after } = diff;
  const isLong = (before?.length ?? 0) + (after?.length ?? 0) > DIFF_LENGTH;
  return isLong ? { path, before: null, after: null, truncated: true } : diff;
}
