/** Encodes text that PostgreSQL cannot hold: NUL characters and unpaired surrogates. Other text stays as it is. */

/** Begins encoded text. */
const MARK = "\u0001";

export function toStoredText(text: string): string {
  return text.includes("\0") || text.startsWith(MARK) || !text.isWellFormed() ? MARK + JSON.stringify(text) : text;
}

/** Damaged text stays as it is: one such cell must not break a list. */
export function fromStoredText(stored: string): string {
  if (!stored.startsWith(MARK)) return stored;
  try {
    const text: unknown = JSON.parse(stored.slice(1));
    return typeof text === "string" ? text : stored;
  } catch {
    return stored;
  }
}
