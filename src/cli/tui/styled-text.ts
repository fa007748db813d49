/** Wraps and truncates text that contains styles, by its width on a terminal. */
import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui/dist/utils.js";

const ESCAPE = "\u001b";
const RESET = "\u001b[0m";

/** Wraps at words. Every line after the first starts with `indent`. */
export function wrapStyled(text: string, width: number, indent = ""): string[] {
  const room = Math.max(1, width - visibleWidth(indent));
  const [first = "", ...rest] = wrapTextWithAnsi(text, indent === "" ? Math.max(1, width) : room);
  return [first, ...rest.map((line) => indent + line)];
}

export function clipStyled(text: string, width: number): string {
  if (visibleWidth(text) <= width) return text;
  const clipped = truncateToWidth(text, Math.max(1, width), "…");
  return text.includes(ESCAPE) ? clipped : clipped.replaceAll(RESET, ""); // text without styles stays without them
}

export function styledWidth(text: string): number {
  return visibleWidth(text);
}

/** Truncates or pads the text to the width. */
export function fitStyled(text: string, width: number): string {
  const clipped = clipStyled(text, width);
  return clipped + " ".repeat(Math.max(0, width - visibleWidth(clipped)));
}
