/** Derives a diff from the input of an edit tool, for agents that do not report the diff. */
import { z } from "zod";
import type { FileDiff } from "../../domain/index.ts";

const text = z.string();
/** Field names of opencode 1.18, Gemini CLI 0.61 and others. */
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

/** Returns the diff of the replaced text. For a full write, `before` is null because the old content is unknown. */
export function diffFromEditInput(input: unknown): FileDiff | undefined {
  const { data } = Input.safeParse(input);
  const path = data?.filePath ?? data?.file_path ?? data?.path;
  if (data === undefined || path === undefined) return undefined;
  const before = data.oldString ?? data.old_string;
  const after = data.newString ?? data.new_string;
  if (before !== undefined && after !== undefined) return { path, before, after };
  return data.content === undefined ? undefined : { path, before: null, after: data.content };
}
