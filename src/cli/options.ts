/** Reads the options that a command was called with. */
import type { Options } from "./command.ts";
import { usage } from "./exit.ts";

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Every value of an option that may be given several times. */
export function listOption(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? (value as string[]) : [];
}

export function isSet(options: Options, name: string): boolean {
  return options[name] === true;
}

/** One of a list that the parser has already checked. */
export function choiceOption<Choice extends string>(
  options: Options,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === options[name]);
}

/** A whole number from `least` on. */
export function countOption(options: Options, name: string, least: number): number | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  const number = /^\d{1,15}$/.test(String(value)) ? Number(value) : NaN;
  if (!(number >= least)) throw usage(`--${name} takes a whole number from ${least} on, not "${String(value)}"`);
  return number;
}
