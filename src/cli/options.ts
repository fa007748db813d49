/** Reads typed values from parsed options. */
import type { OptionValues } from "./command.ts";
import { usageError } from "./exit.ts";

export function textOption(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Returns all values of a repeatable option. */
export function listOption(options: OptionValues, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? (value as string[]) : [];
}

export function isSet(options: OptionValues, name: string): boolean {
  return options[name] === true;
}

/** Returns a value that the parser has already checked against its choices. */
export function choiceOption<Choice extends string>(
  options: OptionValues,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === options[name]);
}

const MAX_PORT = 65_535;

/** Parses a port; 0 means any free one. Throws `usage`. */
export function portOption(options: OptionValues, name: string): number | undefined {
  const port = countOption(options, name, 0);
  if (port === undefined || port <= MAX_PORT) return port;
  throw usageError(`--${toFlag(name)} must be at most ${MAX_PORT}, not ${port}`);
}

/** `metricsPort` becomes `metrics-port`. */
function toFlag(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Parses a whole number of at least `least`. Throws `usage`. */
export function countOption(options: OptionValues, name: string, least: number): number | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  const number = /^\d{1,15}$/.test(String(value)) ? Number(value) : NaN;
  if (!(number >= least))
    throw usageError(`--${toFlag(name)} must be a whole number of at least ${least}, not "${String(value)}"`);
  return number;
}
