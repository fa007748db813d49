/** Formats the changes of a file as git does. */
import { findChangedRange, formatDiffHunk, toDiffHunks, type DiffHunk } from "../stdx/line-diff.ts";
import type { FileDiff } from "./events.ts";
import type { ChangedFile } from "./task/view.ts";

export interface FilePatch {
  readonly file: ChangedFile;
  /** Lines without line breaks at their ends. */
  readonly lines: readonly string[];
  /** True if the change is not whole. */
  readonly truncated: boolean;
}

const CONTEXT_LINES = 3;

/** `path` is the name of the file in the patch. `diffs` has at least one change of the file. */
export function formatFilePatch(path: string, diffs: readonly FileDiff[]): FilePatch {
  const truncated = diffs.some((diff) => diff.truncated === true);
  const change = findChange(diffs);
  const lines = formatPatchHeader(path, change);
  if (diffs.some(isBinaryDiff)) {
    return { file: { path, change, binary: true }, lines: [...lines, `Binary files differ`], truncated };
  }
  let [additions, deletions] = [0, 0];
  for (const diff of diffs) {
    const heading = diff.truncated === true && diff.line === undefined ? "excerpt at an unknown line" : "";
    for (const hunk of findHunks(diff)) {
      additions += hunk.lines.filter(({ sign }) => sign === "+").length;
      deletions += hunk.lines.filter(({ sign }) => sign === "-").length;
      for (const line of formatDiffHunk(hunk, heading)) lines.push(line);
    }
  }
  const isUnknown = diffs.every(({ before, after }) => before === null && after === null);
  const counts = isUnknown ? {} : { additions, deletions };
  return { file: { path, change, binary: false, ...counts }, lines, truncated };
}

function findChange(diffs: readonly FileDiff[]): "added" | "deleted" | "modified" {
  const [first, last] = [diffs[0], diffs.at(-1)];
  if (first?.before === null && first.truncated !== true) return "added";
  return last?.after === null && last.truncated !== true ? "deleted" : "modified";
}

function formatPatchHeader(path: string, change: "added" | "deleted" | "modified"): string[] {
  const [from, to] = [quotePath(`a/${path}`), quotePath(`b/${path}`)];
  const mode = change === "added" ? ["new file mode 100644"] : change === "deleted" ? ["deleted file mode 100644"] : [];
  return [
    `diff --git ${from} ${to}`,
    ...mode,
    `--- ${change === "added" ? "/dev/null" : from}`,
    `+++ ${change === "deleted" ? "/dev/null" : to}`,
  ];
}

function isBinaryDiff({ before, after }: FileDiff): boolean {
  return before?.includes("\0") === true || after?.includes("\0") === true;
}

function findHunks({ before, after, line = 1 }: FileDiff): DiffHunk[] {
  const hunks = toDiffHunks(findChangedRange(before ?? "", after ?? ""), CONTEXT_LINES);
  return hunks.map(({ oldStart, newStart, lines }) => ({
    oldStart: oldStart + line - 1,
    newStart: newStart + line - 1,
    lines,
  }));
}

/** Quotes as git does, so that a name cannot add lines to the patch. */
function quotePath(path: string): string {
  if (!/["\\\u0000-\u001f\u007f]/.test(path)) return path;

  const escaped = path.replaceAll(/["\\\u0000-\u001f\u007f]/g, (character) => {
    if (character === '"' || character === "\\") return `\\${character}`;
    return `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });
  return `"${escaped}"`;
}
