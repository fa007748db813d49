/**
 * A long text in parts that are rendered one by one. Where it is cut depends only on the text, not on the pieces in
 * which it arrived.
 */

export interface TextPart {
  readonly text: string;
  /** The opening line of the code block in which the part starts, or an empty string. */
  readonly fence: string;
}

export interface TextParts {
  /** Parts that cannot change. */
  readonly closed: readonly TextPart[];
  /** The last part, which grows. */
  readonly open: TextPart;
}

export const NO_TEXT: TextParts = { closed: [], open: { text: "", fence: "" } };

/** Small enough to parse and lay out within a frame. */
export const MAX_PART_LENGTH = 4_000;
/** A cut between blocks is used if the part has at least this length. */
const MIN_PART_LENGTH = 1_000;

export function appendText({ closed, open }: TextParts, more: string): TextParts {
  const text = open.text + more;
  if (text.length <= MAX_PART_LENGTH) return { closed, open: { text, fence: open.fence } };
  const parts = [...closed];
  let at = 0;
  let { fence } = open;
  for (;;) {
    const cut = findCut(text, at, fence);
    if (cut === undefined) return { closed: parts, open: { text: text.slice(at), fence } };
    parts.push({ text: text.slice(at, cut.end), fence });
    at = cut.end;
    fence = cut.fence;
  }
}

export function toTextParts(text: string): TextParts {
  return appendText(NO_TEXT, text);
}

export function joinParts({ closed, open }: TextParts): string {
  return closed.length === 0 ? open.text : closed.map(({ text }) => text).join("") + open.text;
}

export function isEmptyText({ closed, open }: TextParts): boolean {
  return closed.length === 0 && open.text.trim() === "";
}

export function countParts({ closed, open }: TextParts): number {
  return closed.length + (open.text === "" && closed.length > 0 ? 0 : 1);
}

/** The Markdown of a part, which can be parsed alone. */
export function partSource({ closed, open }: TextParts, index: number): string {
  const { text, fence } = closed[index] ?? open;
  return fence === "" ? text : `${fence}\n${text}`;
}

interface Cut {
  readonly end: number;
  /** The fence of the code block that the cut is in. */
  readonly fence: string;
}

/** Prefers the end of a block, then of a line, then of a word. Looks at no more than the part itself. */
function findCut(text: string, start: number, startFence: string): Cut | undefined {
  if (text.length - start <= MAX_PART_LENGTH) return undefined;
  const part = text.slice(start, start + MAX_PART_LENGTH);
  let fence = startFence;
  let between = 0;
  let lineEnd = 0;
  for (let newline = part.indexOf("\n"); newline !== -1; newline = part.indexOf("\n", lineEnd)) {
    const line = part.slice(lineEnd, newline);
    fence = fenceAfter(fence, line);
    lineEnd = newline + 1;
    const isBetweenBlocks = fence === "" && line.trim() === "" && !/^[ \t]/.test(text.charAt(start + lineEnd));
    if (isBetweenBlocks) between = lineEnd;
  }
  if (between >= MIN_PART_LENGTH) return { end: start + between, fence: "" };
  if (lineEnd >= MIN_PART_LENGTH) return { end: start + lineEnd, fence };
  const wordEnd = part.lastIndexOf(" ") + 1;
  if (wordEnd >= MIN_PART_LENGTH) return { end: start + wordEnd, fence };
  const end = start + MAX_PART_LENGTH;
  return { end: isLowSurrogate(text, end) ? end - 1 : end, fence };
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]{0,100})$/;

/** The opening line of the code block that is open after the line, or an empty string. */
function fenceAfter(fence: string, line: string): string {
  const [, marks = "", info = ""] = FENCE.exec(line) ?? [];
  if (marks === "") return fence;
  if (fence === "") return marks + info.trimEnd();
  const [opened = ""] = /^(?:`+|~+)/.exec(fence) ?? [];
  const isEnd = marks.startsWith(opened) && info.trim() === "";
  return isEnd ? "" : fence;
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
