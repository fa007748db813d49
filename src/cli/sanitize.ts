/** Makes untrusted text safe for a terminal: it cannot move the cursor or change colors. */

/** Removes control characters except line breaks and tabs, which makes escape sequences harmless. */
export function stripControls(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** For text that a person decides on: replaces invisible characters, including line breaks, with their code points. Keeps tabs. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(/(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (unseen) => {
    const code = unseen.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** Removes control characters, joins lines, and truncates to `length` characters. */
export function toSingleLine(text: string, length = Infinity): string {
  const line = stripControls(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
