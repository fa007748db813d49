/** How Markdown is rendered. */
import type { Paint } from "../paint.ts";

/** Returns the styled lines of a code block, or undefined if the language is unknown. */
export type Highlighter = (code: string, language: string, paint: Paint) => readonly string[] | undefined;

export interface MarkdownStyle {
  readonly width: number;
  readonly paint: Paint;
  readonly highlight?: Highlighter | undefined;
}
