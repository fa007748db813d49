/** Fills the placeholders of a command. No shell is involved, so nothing is quoted. */

const PLACEHOLDER = /\{(prompt|session|model|cwd)\}/g;

export type Placeholder = "prompt" | "session" | "model" | "cwd";

export function findPlaceholders(command: readonly string[]): Set<Placeholder> {
  return new Set(command.flatMap((word) => Array.from(word.matchAll(PLACEHOLDER), ([, name]) => name as Placeholder)));
}

/** Fills each placeholder once: a prompt may contain `{model}`. */
export function fillPlaceholders(command: readonly string[], values: Readonly<Record<Placeholder, string>>): string[] {
  return command.map((word) => word.replaceAll(PLACEHOLDER, (_, name: Placeholder) => values[name]));
}
