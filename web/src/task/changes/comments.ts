/** Comments on lines of a diff: where they belong, how they are kept, and the prompt that they become. */
import type { Patch, PatchLine } from "./parse-patch.ts";

export interface LineComment {
  readonly id: string;
  readonly path: string;
  /** `old` for a removed line. */
  readonly side: "old" | "new";
  readonly line: number;
  /** The line as it was when the comment was written. */
  readonly quote: string;
  readonly text: string;
}

export const MAX_COMMENTS = 200;
export const MAX_COMMENT_LENGTH = 10_000;
const MAX_QUOTE_LENGTH = 500;

/** The same for all versions of a diff in which the line has the same number. */
export function lineKey(path: string, side: LineComment["side"], line: number): string {
  return `${side} ${line} ${path}`;
}

/** Where a comment on a line belongs. */
export function findLinePlace(line: PatchLine): Pick<LineComment, "side" | "line" | "quote"> {
  const quote = line.text.slice(0, MAX_QUOTE_LENGTH);
  if (line.newLine !== undefined) return { side: "new", line: line.newLine, quote };
  return { side: "old", line: line.oldLine ?? 0, quote };
}

/** Whether the line still has the text that the comment quotes. */
export function isAboutLine(comment: LineComment, line: PatchLine): boolean {
  return line.text.startsWith(comment.quote);
}

/** The comments on each line, by `lineKey`. */
export function groupByLine(comments: readonly LineComment[]): ReadonlyMap<string, readonly LineComment[]> {
  const groups = new Map<string, LineComment[]>();
  for (const comment of comments) {
    const key = lineKey(comment.path, comment.side, comment.line);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [comment]);
    else group.push(comment);
  }
  return groups;
}

/** Comments on lines that the diff does not have, or has with another text. */
export function findOutdated(comments: readonly LineComment[], patch: Patch): readonly LineComment[] {
  if (comments.length === 0 || patch.rows.length === 0) return [];
  const left = new Set(comments);
  const byLine = groupByLine(comments);
  for (const row of patch.rows) {
    if (row.kind !== "line") continue;
    const place = findLinePlace(row);
    const found = byLine.get(lineKey(patch.files[row.file]?.path ?? "", place.side, place.line)) ?? [];
    for (const comment of found) if (isAboutLine(comment, row)) left.delete(comment);
  }
  return [...left];
}

/** One prompt with all comments, by file and line. */
export function formatCommentsPrompt(comments: readonly LineComment[]): string {
  const sorted = comments.toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
  const parts = sorted.map(({ path, side, line, quote, text }) =>
    [`${path}:${line}${side === "old" ? " (removed line)" : ""}`, `> ${quote.trimEnd()}`, text.trim()].join("\n"),
  );
  const count = parts.length === 1 ? "this review comment" : `these ${parts.length} review comments`;
  return [`Please address ${count} on your changes.`, ...parts].join("\n\n");
}

/** Reads kept comments. Ignores what is not a comment, because the storage may be of another version. */
export function parseKeptComments(text: string | null): KeptComments {
  try {
    const { savedAt, comments } = JSON.parse(text ?? "{}") as Record<string, unknown>;
    const known = Array.isArray(comments) ? comments.filter(isComment).slice(0, MAX_COMMENTS) : [];
    return { savedAt: typeof savedAt === "number" ? savedAt : 0, comments: known };
  } catch {
    return { savedAt: 0, comments: [] };
  }
}

export interface KeptComments {
  /** Milliseconds since 1970. */
  readonly savedAt: number;
  readonly comments: readonly LineComment[];
}

function isComment(value: unknown): value is LineComment {
  const { id, path, side, line, quote, text } = (value ?? {}) as Record<string, unknown>;
  const areTexts = [id, path, quote, text].every((each) => typeof each === "string");
  return areTexts && typeof line === "number" && (side === "old" || side === "new");
}
