/** Makes foreign text safe to show: a model or a file name must not be able to move the cursor or recolour the screen. */

/** Keeps line breaks and tabs; drops every other control character, so an escape sequence shows as harmless text. */
export function stripControls(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** For what a person decides on: names every character that cannot be seen, line breaks too, and keeps tabs. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(/(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (unseen) => {
    const code = unseen.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** On one line, at most `length` characters long. */
export function toSingleLine(text: string, length = Infinity): string {
  const line = stripControls(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
