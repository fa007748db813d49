/** Parses command-line words into a command of the table with its arguments and options. */
import { didYouMean } from "../config/nearest.ts";
import {
  type ArgumentSpec,
  type CommandSpec,
  longFlag,
  type OptionSpec,
  type OptionValues,
  shortFlag,
  takesValue,
} from "./command.ts";
import { countEarlyOptions } from "./early-options.ts";
import { usageError } from "./exit.ts";
import { findCommand } from "./find-command.ts";
import { splitAssignment } from "../stdx/split-assignment.ts";

export type ParsedCommand =
  | { readonly kind: "version" }
  | { readonly kind: "help"; readonly path: readonly CommandSpec[] }
  | {
      readonly kind: "run";
      readonly command: CommandSpec;
      readonly args: readonly (string | undefined)[];
      readonly options: OptionValues;
    };

/** `root` is the program itself. Throws `usage`. */
export function parseArgs(root: CommandSpec, words: readonly string[]): ParsedCommand {
  if (words[0] === "help") return parseHelp(root, words.slice(1));
  if (["--version", "-V", "-v"].includes(words[0] ?? "")) return { kind: "version" };
  const path = [root];
  const early: string[] = []; // options before the name of their command
  let rest = words;
  for (let command = root; command.commands !== undefined;) {
    const skipped = countEarlyOptions(command, rest);
    early.push(...rest.slice(0, skipped));
    rest = rest.slice(skipped);
    const [word, ...more] = rest;
    if (word === "--help" || word === "-h") return { kind: "help", path };
    const named = findCommand(command.commands, word);
    if (named !== undefined) rest = more;
    else if (word !== undefined && !word.startsWith("-") && !(command === root && isPromptText(word)))
      throw unknownCommand(rest, path);
    const next = named ?? command.commands.find(({ name }) => name === command.defaultCommand);
    if (next === undefined) throw unknownOption(word ?? "", ROOT_FLAGS, path);
    path.push(next);
    command = next;
  }
  const isRootDefault = path.length === 2 && rest.length === words.length; // `rookery --verison` may mean a flag of the program
  return parseLeaf(path, [...early, ...rest], isRootDefault ? ROOT_FLAGS : ["--help"]);
}

export function formatPath(path: readonly CommandSpec[]): string {
  return path.map(({ name }) => name).join(" ");
}

/** Whether a word is a prompt, because no name of a command, session or task contains whitespace. */
export function isPromptText(word: string): boolean {
  return /\S\s+\S/.test(word);
}

const ROOT_FLAGS = ["--help", "--version"];

function parseHelp(root: CommandSpec, words: readonly string[]): ParsedCommand {
  const path = [root];
  for (const word of words) {
    const next = findCommand(path.at(-1)?.commands ?? [], word);
    if (next === undefined) throw unknownCommand([word], path);
    path.push(next);
  }
  return { kind: "help", path };
}

/** `flags`: flags that are not options of the command, for suggestions. */
function parseLeaf(path: readonly CommandSpec[], words: readonly string[], flags: readonly string[]): ParsedCommand {
  const command = path.at(-1) as CommandSpec;
  const args: string[] = [];
  const options: Record<string, string | boolean | string[]> = {};
  const restAt = command.arguments?.findIndex(({ rest }) => rest === true) ?? -1;
  const known = new Map((command.options ?? []).map((option) => [longFlag(option), option]));
  const short = new Map((command.options ?? []).map((option) => [shortFlag(option), option]));
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "--") {
      args.push(...words.slice(index + 1));
      break;
    }
    if (word === "--help" || word === "-h") return { kind: "help", path };
    if (word === "-" || !word.startsWith("-")) {
      if (args.length === restAt) {
        args.push(...words.slice(index)); // the rest is another command line
        break;
      }
      args.push(word);
      continue;
    }
    const [flag, inline] = splitAssignment(word);
    const option = known.get(flag) ?? short.get(flag);
    if (option === undefined) throw unknownOption(flag, [...known.keys(), ...flags], path);
    const separate = inline === undefined && takesValue(option);
    if (separate) index += 1;
    const value = parseValue(option, separate ? words[index] : inline, path);
    const key = optionKey(longFlag(option));
    options[key] = option.repeatable === true ? [...toList(options[key]), String(value)] : value;
  }
  return { kind: "run", command, args: checkArguments(args, path), options };
}

function checkArguments(args: readonly string[], path: readonly CommandSpec[]): readonly (string | undefined)[] {
  const expected = path.at(-1)?.arguments ?? [];
  const takesRest = expected.at(-1)?.rest === true;
  const [excess] = args.slice(expected.length);
  if (excess !== undefined && !takesRest)
    throw syntaxError(`unexpected argument "${excess}" (quote text that contains spaces)`, path);
  const named = expected.map((argument, index) => {
    const value = args[index];
    if (value === undefined && argument.optional !== true)
      throw syntaxError(`missing argument <${argument.name}>`, path);
    if (value !== undefined && argument.acceptsOther !== true)
      requireChoice(`<${argument.name}>`, argument, value, path);
    return value;
  });
  return [...named, ...args.slice(expected.length)];
}

function toList(value: string | boolean | readonly string[] | undefined): readonly string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}

function parseValue(option: OptionSpec, value: string | undefined, path: readonly CommandSpec[]): string | boolean {
  if (!takesValue(option)) {
    if (value !== undefined) throw syntaxError(`${longFlag(option)} takes no value`, path);
    return true;
  }
  if (value === undefined || value.startsWith("--")) throw syntaxError(`${option.flags} needs a value`, path);
  requireChoice(longFlag(option), option, value, path);
  return value;
}

function requireChoice(
  what: string,
  { choices }: Pick<ArgumentSpec, "choices">,
  value: string,
  path: readonly CommandSpec[],
): void {
  if (choices === undefined || choices.includes(value)) return;
  throw syntaxError(`${what} must be one of ${choices.join(", ")}, not "${value}"${didYouMean(value, choices)}`, path);
}

/** `words`: the unknown word and what follows it. */
function unknownCommand(words: readonly string[], path: readonly CommandSpec[]): Error {
  const [word = ""] = words;
  const known = (path.at(-1)?.commands ?? []).map(({ name }) => name);
  const suggestion = didYouMean(word, path.length === 1 ? [...known, "help"] : known);
  const isUnquotedPrompt = path.length === 1 && suggestion === "" && words.length > 2 && words.every(isPlainWord);
  if (isUnquotedPrompt) return usageError(`unknown command "${word}"; quote a prompt: rookery "${words.join(" ")}"`);
  return syntaxError(`unknown command "${word}"${suggestion}`, path);
}

function isPlainWord(word: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{N}.,:/_-]*$/u.test(word);
}

function unknownOption(flag: string, known: readonly string[], path: readonly CommandSpec[]): Error {
  return syntaxError(`unknown option ${flag}${didYouMean(flag, known)}`, path);
}

function syntaxError(what: string, path: readonly CommandSpec[]): Error {
  return usageError(`${what}; see ${formatPath(path)} --help`);
}

/** `--dry-run` is `dryRun`. */
function optionKey(flag: string): string {
  return flag.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
