/** Splits `name=value` at the first equals sign. The value is undefined without one. */
export function splitAssignment(word: string): [string, string | undefined] {
  const at = word.indexOf("=");
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
