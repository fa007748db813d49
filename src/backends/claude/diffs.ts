/** Computes the diff of a Claude Code edit from its result, or from its input if the result has no details. */
import type { FileDiff, Location } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import { indexOfText, splitText } from "../../stdx/index.ts";
import { readFileText } from "../file-context.ts";
import { numberAt, recordsAt, textAt } from "./record-fields.ts";

export interface EditChanges {
  readonly diffs: readonly FileDiff[];
  readonly locations: readonly Location[];
}

/** `result` is missing for the edits of a sub-agent (2.1.325). */
export function toEditChanges(
  name: string,
  input: JsonRecord,
  result: JsonRecord | undefined,
  said: string,
): EditChanges {
  const diff = computeDiff(name, input, result, said);
  if (diff === undefined) return { diffs: [], locations: [] };
  const line = numberAt(recordsAt(result, "structuredPatch")[0], "newStart");
  return {
    diffs: [diff],
    locations: [line !== undefined && line > 0 ? { path: diff.path, line } : { path: diff.path }],
  };
}

/** Computes the diff of an edit that is not made yet, from its input and the file as it is now. */
export function toProposedDiffs(name: string, input: JsonRecord, read = readFileText): FileDiff[] {
  const path = textAt(input, "file_path");
  if (path === undefined) return [];
  const before = read(path);
  const [first, ...others] = readEdits(input, undefined);
  if (before === null && first?.from === "" && others.length === 0) return [{ path, before, after: first.to }];
  const result =
    before === undefined ? undefined : { originalFile: before, type: before === null ? "create" : "update" };
  const diff = computeDiff(name, input, result, "");
  return diff === undefined ? [] : [diff];
}

function computeDiff(
  name: string,
  input: JsonRecord,
  result: JsonRecord | undefined,
  said: string,
): FileDiff | undefined {
  switch (name) {
    case "Write":
      return diffOfWrite(input, result, said);
    case "Edit":
    case "MultiEdit":
      return diffOfEdits(input, result);
    case "NotebookEdit":
      return diffOfNotebook(result);
    default:
      return undefined;
  }
}

function diffOfWrite(input: JsonRecord, result: JsonRecord | undefined, said: string): FileDiff | undefined {
  const path = textAt(result, "filePath") ?? textAt(input, "file_path");
  const after = textAt(result, "content") ?? textAt(input, "content");
  if (path === undefined || after === undefined) return undefined;
  const before = textAt(result, "originalFile") ?? null;
  const isNew = textAt(result, "type") === "create" || (result === undefined && said.startsWith("File created"));
  return { path, before, after, ...(before === null && !isNew && { truncated: true }) };
}

const MAX_EDITS = 100;
/** The log does not keep longer texts. */
const MAX_EDITED_LENGTH = 1024 * 1024;

interface Edit {
  readonly from: string;
  readonly to: string;
  readonly isEverywhere: boolean;
}

/** Without the original file, the diff has only the replaced passages. */
function diffOfEdits(input: JsonRecord, result: JsonRecord | undefined): FileDiff | undefined {
  const path = textAt(result, "filePath") ?? textAt(input, "file_path");
  if (path === undefined) return undefined;
  const edits = readEdits(input, result);
  const before = textAt(result, "originalFile");
  const after = before === undefined ? undefined : applyEdits(before, edits);
  if (before !== undefined && after !== undefined && after !== before) return { path, before, after };
  if (edits.length === 0) return undefined;
  return {
    path,
    before: edits.map(({ from }) => from).join("\n"),
    after: edits.map(({ to }) => to).join("\n"),
    truncated: true,
  };
}

function readEdits(input: JsonRecord, result: JsonRecord | undefined): Edit[] {
  const several = recordsAt(input, "edits");
  if (several.length > 0) return several.flatMap((edit) => readEdit(edit) ?? []);
  const from = textAt(result, "oldString");
  const to = textAt(result, "newString");
  if (from === undefined || to === undefined) return [readEdit(input)].flatMap((edit) => edit ?? []);
  return [{ from, to, isEverywhere: result?.["replaceAll"] === true }];
}

function readEdit(edit: JsonRecord): Edit | undefined {
  const from = textAt(edit, "old_string");
  const to = textAt(edit, "new_string");
  return from === undefined || to === undefined ? undefined : { from, to, isEverywhere: edit["replace_all"] === true };
}

/** Returns undefined if the edits are too many or the text is too long: each edit scans the whole text. */
function applyEdits(before: string, edits: readonly Edit[]): string | undefined {
  let text = before;
  for (const [at, edit] of edits.entries()) {
    if (at >= MAX_EDITS || text.length > MAX_EDITED_LENGTH) return undefined;
    const next = applyEdit(text, edit);
    if (next === undefined) return undefined;
    text = next;
  }
  return text;
}

function applyEdit(text: string, { from, to, isEverywhere }: Edit): string | undefined {
  if (from === "") return text === "" ? to : text;
  if (!isEverywhere) {
    const at = indexOfText(text, from);
    return at === -1 ? text : text.slice(0, at) + to + text.slice(at + from.length);
  }
  const pieces = splitText(text, from);
  return pieces.length * to.length > MAX_EDITED_LENGTH ? undefined : pieces.join(to);
}

function diffOfNotebook(result: JsonRecord | undefined): FileDiff | undefined {
  const path = textAt(result, "notebook_path");
  const before = textAt(result, "original_file");
  const after = textAt(result, "updated_file");
  return path === undefined || before === undefined || after === undefined ? undefined : { path, before, after };
}
