/** Splits a command line into words. Supports quotes and backslashes, and no other shell syntax. */
import { usageError } from "../exit.ts";

/** Plain characters, an escaped character, or quoted text. */
const PIECE = /([^\s'"\\]+)|\\([^])|'([^']*)'|"((?:[^"\\]|\\[^])*)"/y;
/** Inside double quotes, a backslash only escapes these. */
const ESCAPED = /\\(["\\$`])/g;

/** Throws `usage` for an unterminated quote or an empty command. */
export function splitCommandLine(text: string): string[] {
  const words: string[] = [];
  let at = 0;
  while (at < text.length) {
    const space = /\s*/y;
    space.lastIndex = at;
    at += space.exec(text)?.[0].length ?? 0;
    if (at >= text.length) break;
    let word = "";
    for (PIECE.lastIndex = at; at < text.length && !/\s/.test(text.charAt(at)); at = PIECE.lastIndex) {
      PIECE.lastIndex = at;
      const match = PIECE.exec(text);
      if (match === null) throw usageError(`unterminated quote or backslash in: ${text}`);
      const [, plain, escaped, single, double] = match;
      word += plain ?? escaped ?? single ?? double?.replaceAll(ESCAPED, "$1") ?? "";
    }
    words.push(word);
  }
  if (words.length === 0 || words[0] === "") throw usageError(`"${text}" contains no command`);
  return words;
}
