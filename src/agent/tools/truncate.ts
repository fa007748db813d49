/** Truncates what a tool returns. */

/** About 10,000 tokens. */
export const MAX_RESULT_LENGTH = 30_000;

/** Keeps the start and the end of a text, and says how much is missing. */
export function truncateMiddle(text: string, limit: number = MAX_RESULT_LENGTH): string {
  if (text.length <= limit) return text.toWellFormed();
  const half = Math.floor(limit / 2);
  const omitted = text.length - 2 * half;
  return joinHeadAndTail(text.slice(0, half), omitted, text.slice(-half));
}

/**
 * Makes both parts well-formed: a cut may split a surrogate pair, and providers reject text with an unpaired surrogate.
 */
export function joinHeadAndTail(head: string, omitted: number, tail: string): string {
  return omitted > 0
    ? `${head.toWellFormed()}\n… ${omitted} characters omitted …\n${tail.toWellFormed()}`
    : head + tail;
}

/** Keeps the start of a line, and says how much is missing. */
export function truncateLine(line: string, limit: number): string {
  if (line.length <= limit) return line.toWellFormed();
  return `${line.slice(0, limit).toWellFormed()}… (${line.length - limit} characters omitted)`;
}
