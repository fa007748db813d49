/** Makes untrusted text safe for a terminal: it cannot move the cursor or change colors. */

/** Removes control characters except line breaks and tabs, which makes escape sequences harmless. */
export function stripControls(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}

/**
 * Also removes characters that have no width, such as zero-width spaces and tags. Keeps the joiner and the variation
 * selectors that emoji consist of.
 */
export function stripHidden(text: string): string {
  return stripControls(text).replaceAll(
    /[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028\u2029\u2060-\u2065\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu,
    "",
  );
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
