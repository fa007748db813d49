/** Describes why `old_text` was not found in a file: the most similar lines, and how they differ. */
import { indexOfText, trimBothEndsOf, trimEndOf } from "../../../stdx/index.ts";
import { truncateMiddle, truncateLine } from "../truncate.ts";

const SHOWN_LINES = 20;
const MAX_LINE_LENGTH = 300;
const MAX_LENGTH = 3_000;
/**
 * Maximum number of positions that one line votes for. A line such as a closing bracket occurs everywhere and
 * identifies nothing.
 */
const MAX_PLACES = 200;
/** Maximum number of lines that vote. Together with `MAX_PLACES` it bounds the work. */
const MAX_VOTERS = 2_000;

interface LineSpan {
  /** Starts at 0. */
  readonly line: number;
  readonly count: number;
}

export function describeMismatch(text: string, wanted: string, path: string): string {
  const missing = `old_text was not found in ${path}`;
  const lines = splitLines(text);
  if (hasLineNumbers(wanted))
    return `${missing}: its lines start with line numbers, which read adds and the file does not contain`;
  const span = findNearestSpan(lines, splitLines(wanted));
  if (span === undefined) return `${missing}, and nothing similar: read the file again and pass the exact text`;
  const found = lines.slice(span.line, span.line + span.count);
  const shown = found
    .slice(0, SHOWN_LINES)
    .map((line, at) => `${span.line + at + 1}\t${truncateLine(line, MAX_LINE_LENGTH)}`);
  const more = found.length > SHOWN_LINES ? `\n… ${found.length - SHOWN_LINES} more lines` : "";
  const last = span.line + found.length;
  const where = found.length === 1 ? `line ${last}` : `lines ${span.line + 1} to ${last}`;
  const difference = findDifference(found.join("\n"), wanted);
  const reason = difference === undefined ? "" : `, where only ${difference}`;
  return truncateMiddle(`${missing}. The closest match is ${where}${reason}:\n${shown.join("\n")}${more}`, MAX_LENGTH);
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function hasLineNumbers(wanted: string): boolean {
  return splitLines(wanted).every((line) => /^\s*\d+\t/.test(line));
}

/** What is removed from both texts before they are compared, in the order in which it is reported. */
const DIFFERENCES: readonly (readonly [name: string, without: (text: string) => string])[] = [
  ["the line endings differ (CRLF)", (text) => text.replaceAll("\r", "")],
  ["leading or trailing whitespace differs", (text) => text.replaceAll("\r", "").trim()],
  ["whitespace at line ends differs", (text) => mapLines(text, (line) => trimEndOf(line, " \t\r")).trim()],
  ["the indentation differs", (text) => mapLines(text, (line) => trimBothEndsOf(line, " \t\r")).trim()],
  ["whitespace differs", removeSpaces],
  ["quotes, dashes or whitespace differ", (text) => removeSpaces(normalizePunctuation(text))],
  ["upper and lower case differ", (text) => removeSpaces(normalizePunctuation(text)).toLowerCase()],
];

function findDifference(found: string, wanted: string): string | undefined {
  return DIFFERENCES.find(([, without]) => {
    const plain = without(wanted);
    return plain !== "" && indexOfText(without(found), plain) !== -1;
  })?.[0];
}

function mapLines(text: string, change: (line: string) => string): string {
  return text.split("\n").map(change).join("\n");
}

function removeSpaces(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

/** Replaces typographic quotes and dashes with those of a keyboard. */
function normalizePunctuation(text: string): string {
  return text
    .replaceAll(/[\u2018\u2019\u201a\u2032`]/g, "'")
    .replaceAll(/[\u201c\u201d\u201e\u2033]|''/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll('"', "'");
}

function normalizeLine(line: string): string {
  return removeSpaces(normalizePunctuation(line)).toLowerCase();
}

/**
 * Each line that occurs in the file votes for the position where the whole text would start. Without votes, the most
 * similar line decides.
 */
function findNearestSpan(lines: readonly string[], wanted: readonly string[]): LineSpan | undefined {
  const places = new Map<string, number[]>();
  for (const [at, line] of lines.entries()) {
    const known = places.get(normalizeLine(line));
    if (known === undefined) places.set(normalizeLine(line), [at]);
    else if (known.length < MAX_PLACES) known.push(at);
  }
  const votes = new Map<number, number>();
  for (const [at, line] of wanted.slice(0, MAX_VOTERS).entries()) {
    const text = normalizeLine(line);
    for (const place of text === "" ? [] : (places.get(text) ?? [])) {
      votes.set(place - at, (votes.get(place - at) ?? 0) + text.length);
    }
  }
  const [best] = [...votes].sort(([a, most], [b, more]) => more - most || a - b);
  const start = best?.[0] ?? findSimilarLine(lines, wanted);
  if (start === undefined) return undefined;
  const line = Math.max(0, start);
  return { line, count: Math.max(1, Math.min(wanted.length, lines.length - line)) };
}

/** Finds the line that shares the most words with the longest line of the text; at least half of them. */
function findSimilarLine(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const longest = wanted.reduce((best, line, at) => (line.length > (wanted[best]?.length ?? 0) ? at : best), 0);
  const words = splitWords(wanted[longest] ?? "");
  if (words.size === 0) return undefined;
  let best: { readonly at: number; readonly score: number } | undefined;
  for (const [at, line] of lines.entries()) {
    const found = splitWords(line);
    let common = 0;
    for (const word of found) if (words.has(word)) common += 1;
    const score = (2 * common) / (words.size + found.size);
    if (score >= 0.5 && score > (best?.score ?? 0)) best = { at, score };
  }
  return best === undefined ? undefined : best.at - longest;
}

function splitWords(line: string): ReadonlySet<string> {
  return new Set(
    line
      .slice(0, 10 * MAX_LINE_LENGTH)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? [],
  );
}
