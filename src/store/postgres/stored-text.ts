/** Encodes text that PostgreSQL cannot hold: NUL characters and unpaired surrogates. Other text stays as it is. */

/** Begins encoded text. */
const MARK = "\u0001";

export function toStoredText(text: string): string {
  return text.includes("\0") || text.startsWith(MARK) || !text.isWellFormed() ? MARK + JSON.stringify(text) : text;
}

export function fromStoredText(stored: string): string {
  return stored.startsWith(MARK) ? (JSON.parse(stored.slice(1)) as string) : stored;
}
