/** Splits a command line into words, as a shell would: quotes and backslashes are honoured, and nothing else is special. */
import { usageError } from "../exit.ts";

/** A run of plain characters, an escaped one, or a quoted text. */
const PIECE = /([^\s'"\\]+)|\\([^])|'([^']*)'|"((?:[^"\\]|\\[^])*)"/y;
/** Within double quotes a backslash counts only before these. */
const ESCAPED = /\\(["\\$`])/g;

/** Throws `usage` where a quote is not closed, or there is no word. */
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
      if (match === null) throw usageError(`a quote or a backslash is not closed in: ${text}`);
      const [, plain, escaped, single, double] = match;
      word += plain ?? escaped ?? single ?? double?.replaceAll(ESCAPED, "$1") ?? "";
    }
    words.push(word);
  }
  if (words.length === 0 || words[0] === "") throw usageError(`there is no command in "${text}"`);
  return words;
}
