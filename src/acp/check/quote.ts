/** Foreign values as short text on one line. */

const LONGEST = 120;

/** As JSON. */
export function quoted(value: unknown): string {
  return cut(JSON.stringify(value) ?? "nothing");
}

/** Without what moves a cursor or cannot be seen, which an agent may have put there. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ").trim();
}

export function cut(text: string, longest = LONGEST): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
