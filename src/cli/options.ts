/** Reads the options that a command was called with. */
import type { OptionValues } from "./command.ts";
import { usageError } from "./exit.ts";

export function textOption(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Every value of an option that may be given several times. */
export function listOption(options: OptionValues, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? (value as string[]) : [];
}

export function isSet(options: OptionValues, name: string): boolean {
  return options[name] === true;
}

/** One of a list that the parser has already checked. */
export function choiceOption<Choice extends string>(
  options: OptionValues,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === options[name]);
}

/** A whole number from `least` on. */
export function countOption(options: OptionValues, name: string, least: number): number | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  const number = /^\d{1,15}$/.test(String(value)) ? Number(value) : NaN;
  if (!(number >= least)) throw usageError(`--${name} takes a whole number from ${least} on, not "${String(value)}"`);
  return number;
}
