/** Wraps and truncates text that contains styles, by its width on a terminal. */
import { wrapTextWithAnsi } from "@mariozechner/pi-tui/dist/utils.js";
import { simplifyEmoji, styledWidth, truncateStyled } from "../display-width.ts";

export { styledWidth };

/** The library takes quadratic time for a long line, so it gets short pieces. */
const PIECE_LENGTH = 2_000;

/** Wraps at words. Every line after the first starts with `indent`. */
export function wrapStyled(text: string, width: number, indent = ""): string[] {
  const room = Math.max(1, indent === "" ? width : width - styledWidth(indent));
  const [first = "", ...rest] = text.length <= PIECE_LENGTH ? wrapTextWithAnsi(text, room) : wrapPieces(text, room);
  return [first, ...rest.map((line) => indent + line)];
}

/** The last line of a piece, which repeats the styles that are active, continues with the next piece. */
function wrapPieces(text: string, width: number): string[] {
  const lines: string[] = [];
  let open = "";
  for (let at = 0; at < text.length;) {
    const end = findPieceEnd(text, at);
    const piece = text.slice(at, end);
    const wrapped = wrapTextWithAnsi(open + piece, width);
    for (const line of wrapped.slice(0, -1)) lines.push(line);
    open = wrapped.at(-1) ?? "";
    if (open !== "" && !open.endsWith(" ")) open += / *$/.exec(piece)?.[0] ?? ""; // wrapping removed them
    if (open.length > PIECE_LENGTH) {
      lines.push(open); // characters without width never fill a line
      open = "";
    }
    at = end;
  }
  return open === "" && lines.length > 0 ? lines : [...lines, open.trimEnd()];
}

/** Prefers the end of a line, then of a word. Never inside a style or a pair of surrogates. */
function findPieceEnd(text: string, start: number): number {
  const end = start + PIECE_LENGTH;
  if (end >= text.length) return text.length;
  const piece = text.slice(start, end);
  const cut = Math.max(piece.lastIndexOf("\n"), piece.lastIndexOf(" ")) + 1;
  if (cut > PIECE_LENGTH / 2) return start + cut;
  const [open = ""] = /(?:\u001b(?:\[[\d;]*)?|[\ud800-\udbff])$/.exec(piece) ?? [];
  return open.length < piece.length ? end - open.length : end;
}

export function clipStyled(text: string, width: number): string {
  return truncateStyled(text, Math.max(1, width));
}

/** Truncates or pads the text to the width, for a column. Emoji that terminals measure differently are simplified. */
export function fitStyled(text: string, width: number): string {
  const clipped = clipStyled(simplifyEmoji(text), width);
  return clipped + " ".repeat(Math.max(0, width - styledWidth(clipped)));
}
