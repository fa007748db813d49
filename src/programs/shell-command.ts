/** Formats a command as a user could type it in a shell. */
export function formatShellCommand(words: readonly string[]): string {
  return words.map(quoteShellWord).join(" ");
}

export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
