/** Says of a text that does not stand in a file where something like it does, and what differs there. */
import { indexOfText, trimBothEndsOf, trimEndOf } from "../../../stdx/index.ts";
import { bounded, cut } from "../text.ts";

const SHOWN_LINES = 20;
const MAX_LINE_LENGTH = 300;
const MAX_LENGTH = 3_000;
/** Places that one line may speak for: a closing bracket stands everywhere, and says nothing. */
const MOST_PLACES = 200;
/** Lines of the text that vote: together with the places, the bound on the work. */
const MAX_VOTERS = 2_000;

interface Place {
  /** From 0 on. */
  readonly line: number;
  readonly count: number;
}

export function mismatch(text: string, wanted: string, path: string): string {
  const missing = `old_text does not stand in ${path}`;
  const lines = linesOf(text);
  if (numbered(wanted)) return `${missing}: its lines begin with numbers, which read shows but the file does not have`;
  const place = nearestPlace(lines, linesOf(wanted));
  if (place === undefined) return `${missing}, nor anything like it: read the file again and give the text exactly`;
  const found = lines.slice(place.line, place.line + place.count);
  const shown = found.slice(0, SHOWN_LINES).map((line, at) => `${place.line + at + 1}\t${cut(line, MAX_LINE_LENGTH)}`);
  const more = found.length > SHOWN_LINES ? `\n… ${found.length - SHOWN_LINES} more lines` : "";
  const last = place.line + found.length;
  const where = found.length === 1 ? `line ${last}` : `lines ${place.line + 1} to ${last}`;
  const difference = differenceOf(found.join("\n"), wanted);
  const what = difference === undefined ? "" : `, where only ${difference}`;
  return bounded(`${missing}. The nearest place is ${where}${what}:\n${shown.join("\n")}${more}`, MAX_LENGTH);
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function numbered(wanted: string): boolean {
  return linesOf(wanted).every((line) => /^\s*\d+\t/.test(line));
}

/** What is taken away from both before they are compared, in the order in which it should be told. */
const DIFFERENCES: readonly (readonly [name: string, without: (text: string) => string])[] = [
  ["the ends of lines differ (CRLF)", (text) => text.replaceAll("\r", "")],
  ["the empty space before or behind it differs", (text) => text.replaceAll("\r", "").trim()],
  ["the space at the ends of lines differs", (text) => eachLine(text, (line) => trimEndOf(line, " \t\r")).trim()],
  ["the indentation differs", (text) => eachLine(text, (line) => trimBothEndsOf(line, " \t\r")).trim()],
  ["white space differs", spaceless],
  ["quotes, dashes or white space differ", (text) => spaceless(plainSigns(text))],
  ["capital letters differ", (text) => spaceless(plainSigns(text)).toLowerCase()],
];

function differenceOf(found: string, wanted: string): string | undefined {
  return DIFFERENCES.find(([, without]) => {
    const plain = without(wanted);
    return plain !== "" && indexOfText(without(found), plain) !== -1;
  })?.[0];
}

function eachLine(text: string, change: (line: string) => string): string {
  return text.split("\n").map(change).join("\n");
}

function spaceless(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

/** As a keyboard has them. */
function plainSigns(text: string): string {
  return text
    .replaceAll(/[\u2018\u2019\u201a\u2032`]/g, "'")
    .replaceAll(/[\u201c\u201d\u201e\u2033]|''/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll('"', "'");
}

function bare(line: string): string {
  return spaceless(plainSigns(line)).toLowerCase();
}

/** Each line of the text that stands in the file votes for where the whole would begin; else the most similar line. */
function nearestPlace(lines: readonly string[], wanted: readonly string[]): Place | undefined {
  const places = new Map<string, number[]>();
  for (const [at, line] of lines.entries()) {
    const known = places.get(bare(line));
    if (known === undefined) places.set(bare(line), [at]);
    else if (known.length < MOST_PLACES) known.push(at);
  }
  const votes = new Map<number, number>();
  for (const [at, line] of wanted.slice(0, MAX_VOTERS).entries()) {
    const text = bare(line);
    for (const place of text === "" ? [] : (places.get(text) ?? [])) {
      votes.set(place - at, (votes.get(place - at) ?? 0) + text.length);
    }
  }
  const [best] = [...votes].sort(([a, most], [b, more]) => more - most || a - b);
  const start = best?.[0] ?? similar(lines, wanted);
  if (start === undefined) return undefined;
  const line = Math.max(0, start);
  return { line, count: Math.max(1, Math.min(wanted.length, lines.length - line)) };
}

/** By the words that it has in common with the longest line that is wanted; half of them at least. */
function similar(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const longest = wanted.reduce((best, line, at) => (line.length > (wanted[best]?.length ?? 0) ? at : best), 0);
  const words = wordsOf(wanted[longest] ?? "");
  if (words.size === 0) return undefined;
  let best: { readonly at: number; readonly score: number } | undefined;
  for (const [at, line] of lines.entries()) {
    const found = wordsOf(line);
    let common = 0;
    for (const word of found) if (words.has(word)) common += 1;
    const score = (2 * common) / (words.size + found.size);
    if (score >= 0.5 && score > (best?.score ?? 0)) best = { at, score };
  }
  return best === undefined ? undefined : best.at - longest;
}

function wordsOf(line: string): ReadonlySet<string> {
  return new Set(
    line
      .slice(0, 10 * MAX_LINE_LENGTH)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? [],
  );
}
