/** Truncates text from servers, which goes into statuses, the log and the model's input. */

/** The end says how much is missing. */
export function truncateWithCount(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars)} [… ${text.length - maxChars} more characters]`;
}
