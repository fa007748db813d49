/** Measures and truncates text by its width on a terminal, where characters take zero, one or two columns. */

let segmenter: Intl.Segmenter | undefined; // made on first use, because it takes 10 ms

export function displayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const grapheme of splitGraphemes(text)) width += graphemeWidth(grapheme);
  return width;
}

/** Like `displayWidth`, for text that contains styles, which have no width. */
export function styledWidth(text: string): number {
  return displayWidth(text.includes("\u001b") ? text.replaceAll(STYLE, "") : text);
}

/** A sequence that changes colors or other styles. */
const STYLE = /\u001b\[[\d;]*m/g;
const RESET_STYLES = "\u001b[0m";

/** Like `truncateToWidth`, for text that contains styles. The mark has the style of the text before it. */
export function truncateStyled(text: string, width: number): string {
  if (styledWidth(text) <= width) return text;
  if (width < 1) return "";
  let cut = "";
  let taken = 0;
  let end = 0;
  for (const { 0: style, index } of [...text.matchAll(STYLE), { 0: "", index: text.length }]) {
    for (const grapheme of splitGraphemes(text.slice(end, index))) {
      taken += graphemeWidth(grapheme);
      if (taken > width - 1) return `${cut}…${end === 0 ? "" : RESET_STYLES}`;
      cut += grapheme;
    }
    cut += style;
    end = index + style.length;
  }
  return cut;
}

/**
 * Replaces emoji that terminals measure differently with the emoji that they start with: some draw a joined sequence, a
 * skin tone or an emoji presentation as one emoji, others as its parts. Use it for text in columns.
 */
export function simplifyEmoji(text: string): string {
  return text
    .replaceAll(
      /(\p{Extended_Pictographic})(?:[\ufe0e\ufe0f]|\p{Emoji_Modifier})*(?:\u200d[^\s\u200d]\p{M}*\p{Emoji_Modifier}?)*/gu,
      "$1",
    )
    .replaceAll(/[\u200d\ufe0e\ufe0f\u20e3]|(?<=\p{Extended_Pictographic})\p{Emoji_Modifier}/gu, "");
}

/** Truncates or pads the text to the width. */
export function fitToWidth(text: string, width: number): string {
  const cut = truncateToWidth(text, width);
  return cut + " ".repeat(Math.max(0, width - displayWidth(cut)));
}

export function truncateToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return "";
  let cut = "";
  let taken = 0;
  for (const grapheme of splitGraphemes(text)) {
    taken += graphemeWidth(grapheme);
    if (taken > width - 1) break;
    cut += grapheme;
  }
  return `${cut}…`;
}

/** Splits the text into rows of at most the width. A character that is wider gets its own row. */
export function wrapToWidth(text: string, width: number): string[] {
  if (displayWidth(text) <= width) return [text];
  const rows: string[] = [];
  let row = "";
  let taken = 0;
  for (const grapheme of splitGraphemes(text)) {
    const next = graphemeWidth(grapheme);
    if (taken + next > width && row !== "") {
      rows.push(row);
      [row, taken] = ["", 0];
    }
    row += grapheme;
    taken += next;
  }
  return [...rows, row];
}

/** The segmenter of Node 20 takes quadratic time, so it gets short pieces. */
const PIECE_LENGTH = 256;

/** A grapheme at the end of a piece may continue in the next one, so it is split off again with that piece. */
function* splitGraphemes(text: string): Iterable<string> {
  for (let start = 0; start < text.length;) {
    const piece = text.slice(start, start + PIECE_LENGTH);
    const found = Array.from((segmenter ??= new Intl.Segmenter()).segment(piece), ({ segment }) => segment);
    const isLast = start + piece.length >= text.length;
    for (const grapheme of isLast || found.length === 1 ? found : found.slice(0, -1)) {
      yield grapheme;
      start += grapheme.length;
    }
  }
}

/** Like `truncateToWidth`, but ends after a whole word if one of the last words ends near the width. */
export function truncateAtWord(text: string, width: number): string {
  const cut = truncateToWidth(text, width);
  if (cut === text) return text;
  const end = cut.lastIndexOf(" ");
  return end <= 0 || end < cut.length - MAX_LOST_WORD ? cut : `${cut.slice(0, end).trimEnd()}…`;
}

/** A longer word is broken, so that a title of one long word is not lost. */
const MAX_LOST_WORD = 20;

function graphemeWidth(grapheme: string): number {
  if (/\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u.test(grapheme)) return 2;
  if (/^[\p{M}\p{Cf}]/u.test(grapheme)) return 0;
  const code = grapheme.codePointAt(0) ?? 0;
  const marks = grapheme.match(/(?!^)[\uff9e\uff9f]/g)?.length ?? 0; // half-width marks have a column of their own
  return (WIDE_RANGES.some(([from, to]) => code >= from && code <= to) ? 2 : 1) + marks;
}

/** Wide and full-width ranges of Unicode's East Asian Width without emoji, with neighboring blocks merged. */
const WIDE_RANGES: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1d300, 0x1d376],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];
