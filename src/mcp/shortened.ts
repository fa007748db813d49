/** What a server says of itself, no longer than somebody reads: it goes into statuses, the log and the model's input. */

/** The end of it says how much is missing. */
export function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars)} [… ${text.length - maxChars} more characters]`;
}
