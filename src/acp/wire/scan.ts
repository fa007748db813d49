/**
 * Finds the values of a JSON object's keys in its text, so that one can be replaced while the rest stays byte for byte.
 */

export interface ValueSpan {
  readonly start: number;
  readonly end: number;
}

/** The spans of the values by key. For a truncated text, the values that are complete. */
export function findTopLevelSpans(text: string): ReadonlyMap<string, ValueSpan> {
  const spans = new Map<string, ValueSpan>();
  let at = skipSpace(text, 0);
  if (text[at] !== "{") return spans;
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at);
    if (keyEnd === undefined) break;
    const key = tryParseJson(text.slice(at, keyEnd));
    at = skipSpace(text, keyEnd);
    if (typeof key !== "string" || text[at] !== ":") break;
    const start = skipSpace(text, at + 1);
    const end = endOfValue(text, start);
    if (end === undefined) break;
    spans.set(key, { start, end });
    at = skipSpace(text, end);
    if (text[at] !== ",") break;
    at = skipSpace(text, at + 1);
  }
  return spans;
}

/** The text of one value. Undefined if the object has no such key. */
export function findValueText(text: string, key: string): string | undefined {
  const span = findTopLevelSpans(text).get(key);
  return span === undefined ? undefined : text.slice(span.start, span.end);
}

/** The text with one value replaced. Undefined if the object has no such key. */
export function replaceValue(text: string, key: string, value: string): string | undefined {
  const span = findTopLevelSpans(text).get(key);
  return span === undefined ? undefined : text.slice(0, span.start) + value + text.slice(span.end);
}

/** Undefined if the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const SPACE = " \t\r\n";

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && SPACE.includes(text.charAt(at))) at += 1;
  return at;
}

/** The position after the closing quote. */
function endOfString(text: string, from: number): number | undefined {
  for (let at = from + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return undefined;
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function endOfValue(text: string, from: number): number | undefined {
  const first = text[from];
  if (first === '"') return endOfString(text, from);
  if (first === "{" || first === "[") return endOfNested(text, from);
  const rest = /[,}\]\s]/g;
  rest.lastIndex = from;
  return rest.exec(text)?.index;
}

function endOfNested(text: string, from: number): number | undefined {
  const marks = /["{}[\]]/g;
  marks.lastIndex = from;
  let depth = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') {
      const end = endOfString(text, mark.index);
      if (end === undefined) return undefined;
      marks.lastIndex = end;
      continue;
    }
    depth += mark[0] === "{" || mark[0] === "[" ? 1 : -1;
    if (depth === 0) return mark.index + 1;
  }
  return undefined;
}
