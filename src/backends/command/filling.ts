/** Fills in what a command leaves open. No shell reads it, so that nothing has to be quoted. */

const PLACEHOLDER = /\{(prompt|session|model|cwd)\}/g;

export type Placeholder = "prompt" | "session" | "model" | "cwd";

export function placeholdersIn(command: readonly string[]): Set<Placeholder> {
  return new Set(command.flatMap((word) => Array.from(word.matchAll(PLACEHOLDER), ([, name]) => name as Placeholder)));
}

/** What is filled in is not filled in again: a prompt may talk of `{model}`. */
export function filled(command: readonly string[], values: Readonly<Record<Placeholder, string>>): string[] {
  return command.map((word) => word.replaceAll(PLACEHOLDER, (_, name: Placeholder) => values[name]));
}
