/** Formats a patch of git for a person, like the diff of an edit. */
import { type DiffFormat, formatHunkCounts, formatHunks, formatPathHeading } from "./format-diff.ts";
import { parsePatch, type PatchFile } from "./parse-patch.ts";

/** See `formatDiffs`: lines have no control characters of the files. */
export function formatPatch(patch: string, format: DiffFormat): string[] {
  return parsePatch(patch).flatMap((file) => [formatFileHeading(file, format), ...formatFileHunks(file, format)]);
}

/** One line for each file, with what happened to it and the number of changed lines. */
export function formatPatchHeadings(patch: string, format: DiffFormat): string[] {
  return parsePatch(patch).map((file) => formatFileHeading(file, format));
}

function formatFileHeading({ path, kind, isBinary, hunks }: PatchFile, { paint }: DiffFormat): string {
  const counts = isBinary ? "binary file" : formatHunkCounts(hunks, paint);
  const isEmpty = counts === "" && (kind === "new file" || kind === "deleted");
  const detail = [kind, isEmpty ? "empty" : counts].filter((part) => part !== "").join(" ");
  return formatPathHeading(path, paint, detail);
}

function formatFileHunks({ hunks }: PatchFile, format: DiffFormat): string[] {
  const hasCrlf = hunks.every(({ lines }) => lines.every(({ line }) => line.endsWith("\r\n")));
  const clean = hasCrlf
    ? hunks.map((hunk) => ({
        ...hunk,
        lines: hunk.lines.map(({ sign, line }) => ({ sign, line: `${line.slice(0, -2)}\n` })),
      }))
    : hunks;
  return formatHunks(clean, format, 1);
}
