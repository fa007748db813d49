/** Wraps text for a terminal at spaces. What a person copies, such as a command or a URL, is never broken. */
import { displayWidth, styledWidth } from "./display-width.ts";

export interface WrapOptions {
  /** Columns of the terminal. Undefined returns the text unchanged, for pipes and files. */
  readonly width: number | undefined;
  /** Starts every line after the first one of a paragraph. Default: the spaces that start the paragraph, and two more. */
  readonly indent?: string;
}

/** Narrower terminals get lines of this width, which they wrap themselves. */
const MIN_WIDTH = 20;

/**
 * Wraps each line of the text. A word or command that is wider than the terminal gets a line of its own and is left to
 * the terminal, which breaks it without a line break in a copy. Colors have no width.
 */
export function wrapText(text: string, { width, indent }: WrapOptions): string {
  if (width === undefined) return text;
  return text
    .split("\n")
    .map((line) => wrapLine(line, Math.max(width, MIN_WIDTH), indent).join("\n"))
    .join("\n");
}

/** A word of a shell: quotes and parentheses hold their spaces together. */
const SHELL_WORD = /(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s"'])+/g;

/**
 * Breaks a command line that a person copies at spaces, with a backslash before each line break, so that a shell reads
 * the copy as one line. A word that is wider than the terminal is left whole.
 */
export function wrapShellLine(line: string, width: number | undefined): string {
  if (width === undefined || displayWidth(line) <= width) return line;
  const start = /^ */.exec(line)?.[0] ?? "";
  const lines: string[] = [];
  let current = start;
  for (const [word] of line.matchAll(SHELL_WORD)) {
    const isFirst = current.trim() === "";
    if (!isFirst && displayWidth(`${current} ${word} \\`) > width) {
      lines.push(`${current} \\`);
      current = `${start}  ${word}`;
    } else current = isFirst ? current + word : `${current} ${word}`;
  }
  return [...lines, current].join("\n");
}

/** Stands for a space that must not be broken. Text for terminals contains no private-use characters at this point. */
const FIXED_SPACE = "\ue000";
/** Words that follow a command in a sentence, and are not part of it. */
const AFTER_COMMAND = "to|and|or|for|in|if|then|when|while|from|is|now|with|which|again|first|before";
const COMMAND = new RegExp(
  `(?:\\bnpx )?\\brookery(?: (?!(?:${AFTER_COMMAND})\\b)(?:"[^"]*"|'[^']*'|[^\\s;,()\`"']*[^\\s;,()\`"':]))+`,
  "g",
);
const QUOTED_CODE = /`[^`]*`/g;

function wrapLine(line: string, width: number, indent?: string): string[] {
  if (styledWidth(line) <= width) return [line];
  const [, start = "", rest = ""] = /^( *)(.*)$/s.exec(line) ?? [];
  const fixed = rest.trimEnd().replaceAll(QUOTED_CODE, fixSpaces).replaceAll(COMMAND, fixSpaces);
  const hanging = indent ?? `${start}  `;
  const lines: string[] = [];
  let current = start;
  let isEmpty = true;
  for (const [, space = "", word = ""] of fixed.matchAll(/( *)(\S+)/g)) {
    const isBroken = !isEmpty && styledWidth(current + space + word) > width;
    if (isBroken) lines.push(current);
    current = isBroken ? hanging + word : isEmpty ? current + word : current + space + word;
    isEmpty = false;
  }
  return [...lines, current].map((each) => each.replaceAll(FIXED_SPACE, " "));
}

function fixSpaces(text: string): string {
  return text.replaceAll(" ", FIXED_SPACE);
}
