/** Formats a command as a user could type it in a shell. */
export function typed(words: readonly string[]): string {
  return words.map(quotedWord).join(" ");
}

export function quotedWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
