/** Wraps and truncates text that contains styles, by its width on a terminal. */
import { wrapTextWithAnsi } from "@mariozechner/pi-tui/dist/utils.js";
import { simplifyEmoji, styledWidth, truncateStyled } from "../display-width.ts";

export { styledWidth };

/** Wraps at words. Every line after the first starts with `indent`. */
export function wrapStyled(text: string, width: number, indent = ""): string[] {
  const room = Math.max(1, width - styledWidth(indent));
  const [first = "", ...rest] = wrapTextWithAnsi(text, indent === "" ? Math.max(1, width) : room);
  return [first, ...rest.map((line) => indent + line)];
}

export function clipStyled(text: string, width: number): string {
  return truncateStyled(text, Math.max(1, width));
}

/** Truncates or pads the text to the width, for a column. Emoji that terminals measure differently are simplified. */
export function fitStyled(text: string, width: number): string {
  const clipped = clipStyled(simplifyEmoji(text), width);
  return clipped + " ".repeat(Math.max(0, width - styledWidth(clipped)));
}
