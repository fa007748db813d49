/** Formats untrusted values as short text on one line. */

const MAX_QUOTE_LENGTH = 120;

/** As JSON. */
export function quoteJson(value: unknown): string {
  return truncateText(JSON.stringify(value) ?? "nothing");
}

/** Removes control and invisible characters, which an agent may have put there. */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ").trim();
}

export function truncateText(text: string, longest = MAX_QUOTE_LENGTH): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
