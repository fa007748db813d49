/** Formats file changes for a person: colored unified diffs with line numbers. Nothing of a line is cut. */
import type { FileDiff } from "../../domain/events.ts";
import { findChangedRange, toDiffHunks, type DiffHunk, type DiffLine } from "../../stdx/line-diff.ts";
import { trimEndOf } from "../../stdx/trim.ts";
import { displayWidth, wrapToWidth } from "../display-width.ts";
import { formatCount } from "../format.ts";
import type { Color, Paint } from "../paint.ts";
import { escapeInvisible, toSingleLine } from "../sanitize.ts";

export interface DiffFormat {
  readonly paint: Paint;
  /** The width of the terminal. Longer lines are wrapped. Default: lines are not wrapped. */
  readonly columns?: number | undefined;
}

const CONTEXT_LINES = 3;
const TAB_WIDTH = 4;
/** Text is not wrapped to less than this, however narrow the terminal is. */
const MIN_TEXT_WIDTH = 10;
const INDENT = "  ";

/** Each line starts with two spaces and has no control characters of the file, so it cannot imitate other output. */
export function formatDiffs(diffs: readonly FileDiff[], format: DiffFormat): string[] {
  return diffs.flatMap((diff, at) => {
    const isSameFile = at > 0 && diffs[at - 1]?.path === diff.path; // one of several hunks
    return formatDiff(diff, format).slice(isSameFile ? 1 : 0);
  });
}

/** The first line names the file. */
export function formatDiff(diff: FileDiff, format: DiffFormat): string[] {
  const { paint } = format;
  const { before, after, truncated = false } = diff;
  if (isBinary(before) || isBinary(after)) return [formatHeading(diff, paint, "binary file")];
  if (before === null && after === null) {
    return [formatHeading(diff, paint, truncated ? "the change is too long or not known" : "no text")];
  }
  const hasCrlf = [before, after].every((text) => text === null || !/(?<!\r)\n/.test(text));
  const clean = (text: string | null) => (hasCrlf ? (text ?? "").replaceAll("\r\n", "\n") : (text ?? ""));
  const hunks = toDiffHunks(findChangedRange(clean(before), clean(after)), CONTEXT_LINES);
  const heading = formatHeading(diff, paint, describeChange(diff, hunks, paint));
  // A passage whose place in the file is not known has no line numbers.
  const isPlaceKnown = !truncated || diff.line !== undefined || before === null;
  const body = formatHunks(hunks, format, isPlaceKnown ? (diff.line ?? 1) : undefined);
  return [heading, ...body, ...(truncated ? [formatMissing(diff, paint)] : [])];
}

/** `first`: the number of the first line of the texts. Undefined: lines have no numbers. */
export function formatHunks(hunks: readonly DiffHunk[], format: DiffFormat, first: number | undefined): string[] {
  const last = (first ?? 1) - 1 + hunks.reduce((most, hunk) => Math.max(most, findLastLine(hunk)), 1);
  const digits = first === undefined ? 0 : String(last).length;
  return hunks.flatMap((hunk, at) => [
    ...(at === 0 ? [] : [`${INDENT}${format.paint("dim", `${" ".repeat(Math.max(0, digits - 1))}⋯`)}`]),
    ...formatHunkLines(hunk, { ...format, digits, first: first ?? 1 }),
  ]);
}

function findLastLine({ oldStart, newStart, lines }: DiffHunk): number {
  const count = (other: DiffLine["sign"]) => lines.filter(({ sign }) => sign !== other).length;
  return Math.max(oldStart + count("+"), newStart + count("-")) - 1;
}

function isBinary(text: string | null): boolean {
  return text?.includes("\0") === true;
}

function formatHeading({ path }: FileDiff, paint: Paint, detail: string): string {
  return formatPathHeading(path, paint, detail);
}

/** The line that names a file. `detail`: what happened to it. */
export function formatPathHeading(path: string, paint: Paint, detail: string): string {
  return `${INDENT}${paint("bold", toSingleLine(escapeInvisible(path)))}${detail === "" ? "" : ` ${detail}`}`;
}

function describeChange(
  { before, after, truncated = false }: FileDiff,
  hunks: readonly DiffHunk[],
  paint: Paint,
): string {
  const kind = truncated ? "" : before === null ? "new file" : after === null ? "deleted" : "";
  const unchanged = before === null || after === null ? "empty" : "the text is unchanged";
  const counts = formatHunkCounts(hunks, paint);
  return [kind, counts === "" ? unchanged : counts].filter((part) => part !== "").join(" ");
}

/** The number of added and removed lines, such as `+2 -1`. Empty if there are none. */
export function formatHunkCounts(hunks: readonly DiffHunk[], paint: Paint): string {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (wanted: DiffLine["sign"]) => lines.filter(({ sign }) => sign === wanted).length;
  const [added, removed] = [count("+"), count("-")];
  const counts = [
    ...(added > 0 ? [paint("green", `+${formatCount(added)}`)] : []),
    ...(removed > 0 ? [paint("red", `-${formatCount(removed)}`)] : []),
  ];
  return counts.join(" ");
}

function formatMissing({ before }: FileDiff, paint: Paint): string {
  const what = before === null ? "the old text is not known" : "part of the change is not shown here";
  return `${INDENT}${paint("yellow", "!")} ${what}`;
}

interface LineFormat extends DiffFormat {
  /** The width of the line numbers; 0 hides them. */
  readonly digits: number;
  /** The number of the first line of the texts. */
  readonly first: number;
}

const COLORS: Record<DiffLine["sign"], Color | undefined> = { "+": "green", "-": "red", " ": undefined };

function formatHunkLines(
  { oldStart, newStart, lines }: DiffHunk,
  { paint, columns, digits, first }: LineFormat,
): string[] {
  let [oldLine, newLine] = [first + oldStart - 1, first + newStart - 1];
  const gutter = digits === 0 ? INDENT.length : INDENT.length + digits + 1;
  const width = columns === undefined ? undefined : Math.max(MIN_TEXT_WIDTH, columns - gutter - 2);
  return lines.flatMap(({ sign, line }) => {
    const number = sign === "-" ? oldLine : newLine;
    if (sign !== "+") oldLine += 1;
    if (sign !== "-") newLine += 1;
    const label = digits === 0 ? INDENT : `${INDENT}${paint("dim", String(number).padStart(digits))} `;
    const color = COLORS[sign];
    const colored = (text: string) => (color === undefined ? text : paint(color, text));
    const text = renderText(line.endsWith("\n") ? line.slice(0, -1) : line, sign !== " ");
    const rows = width === undefined ? [text] : wrapToWidth(text, width);
    const missing = line.endsWith("\n") ? [] : [`${" ".repeat(gutter)}${paint("dim", "\\ no line break at the end")}`];
    return [
      ...rows.map(
        (row, at) => (at === 0 ? label : " ".repeat(gutter)) + colored(`${at === 0 ? sign : " "} ${row}`.trimEnd()),
      ),
      ...missing,
    ];
  });
}

/** Makes characters visible that a person would overlook; in changed lines also tabs and spaces at the end. */
function renderText(line: string, isChanged: boolean): string {
  const visible = escapeInvisible(line);
  const ended = isChanged ? trimEndOf(visible, " ").padEnd(visible.length, "·") : visible;
  if (!ended.includes("\t")) return ended;
  let text = "";
  let width = 0;
  for (const [at, part] of ended.split("\t").entries()) {
    if (at > 0) {
      const fill = TAB_WIDTH - (width % TAB_WIDTH);
      text += isChanged ? `→${" ".repeat(fill - 1)}` : " ".repeat(fill);
      width += fill;
    }
    text += part;
    width += displayWidth(part);
  }
  return text;
}
