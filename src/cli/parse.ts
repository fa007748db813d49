/** From words that were typed to a command of the table with its arguments and options, or to what is wrong with them. */
import { didYouMean } from "../config/nearest.ts";
import type { ArgumentSpec, CommandSpec, OptionSpec, Options } from "./command.ts";
import { usage } from "./exit.ts";

export type Parsed =
  | { readonly wants: "version" }
  | { readonly wants: "help"; readonly path: readonly CommandSpec[] }
  | {
      readonly wants: "run";
      readonly command: CommandSpec;
      readonly args: readonly (string | undefined)[];
      readonly options: Options;
    };

/** Throws `usage`. The first command stands for the program itself. */
export function parseArgs(root: CommandSpec, words: readonly string[]): Parsed {
  if (words[0] === "help") return helpFor(root, words.slice(1));
  if (words[0] === "--version" || words[0] === "-V") return { wants: "version" };
  const path = [root];
  let rest = words;
  for (let command = root; command.commands !== undefined;) {
    const [word, ...more] = rest;
    if (word === "--help" || word === "-h") return { wants: "help", path };
    const named = command.commands.find(({ name }) => name === word);
    if (named !== undefined) rest = more;
    else if (word !== undefined && !word.startsWith("-")) throw unknownCommand(word, path);
    const next = named ?? command.commands.find(({ name }) => name === command.otherwise);
    if (next === undefined) throw unknownOption(word ?? "", ROOT_FLAGS, path);
    path.push(next);
    command = next;
  }
  return parseLeaf(path, rest);
}

export function pathText(path: readonly CommandSpec[]): string {
  return path.map(({ name }) => name).join(" ");
}

const ROOT_FLAGS = ["--help", "--version"];

function helpFor(root: CommandSpec, words: readonly string[]): Parsed {
  const path = [root];
  for (const word of words) {
    const next = path.at(-1)?.commands?.find(({ name }) => name === word);
    if (next === undefined) throw unknownCommand(word, path);
    path.push(next);
  }
  return { wants: "help", path };
}

function parseLeaf(path: readonly CommandSpec[], words: readonly string[]): Parsed {
  const command = path.at(-1) as CommandSpec;
  const args: string[] = [];
  const options: Record<string, string | boolean | string[]> = {};
  const restAt = command.arguments?.findIndex(({ rest }) => rest === true) ?? -1;
  const known = new Map((command.options ?? []).map((option) => [longOf(option), option]));
  const short = new Map((command.options ?? []).map((option) => [option.short, option]));
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "--") {
      args.push(...words.slice(index + 1));
      break;
    }
    if (word === "--help" || word === "-h") return { wants: "help", path };
    if (word === "-" || !word.startsWith("-")) {
      if (args.length === restAt) {
        args.push(...words.slice(index)); // a command with options of its own
        break;
      }
      args.push(word);
      continue;
    }
    const [flag, inline] = splitOnce(word);
    const option = known.get(flag) ?? short.get(flag);
    if (option === undefined) throw unknownOption(flag, [...known.keys(), "--help"], path);
    const separate = inline === undefined && takesValue(option);
    if (separate) index += 1;
    const value = valueOf(option, separate ? words[index] : inline, path);
    const key = keyOf(longOf(option));
    options[key] = option.repeatable === true ? [...listIn(options[key]), String(value)] : value;
  }
  return { wants: "run", command, args: checked(args, path), options };
}

function checked(args: readonly string[], path: readonly CommandSpec[]): readonly (string | undefined)[] {
  const expected = path.at(-1)?.arguments ?? [];
  const takesRest = expected.at(-1)?.rest === true;
  const [excess] = args.slice(expected.length);
  if (excess !== undefined && !takesRest)
    throw wrong(`too many arguments, from "${excess}" on (put quotes around a text)`, path);
  const named = expected.map((argument, index) => {
    const value = args[index];
    if (value === undefined && argument.optional !== true) throw wrong(`missing argument <${argument.name}>`, path);
    if (value !== undefined) mustBeChoice(`<${argument.name}>`, argument, value, path);
    return value;
  });
  return [...named, ...args.slice(expected.length)];
}

function listIn(value: string | boolean | readonly string[] | undefined): readonly string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}

function valueOf(option: OptionSpec, value: string | undefined, path: readonly CommandSpec[]): string | boolean {
  if (!takesValue(option)) {
    if (value !== undefined) throw wrong(`${longOf(option)} takes no value`, path);
    return true;
  }
  if (value === undefined || value.startsWith("--")) throw wrong(`${option.flags} needs its value`, path);
  mustBeChoice(longOf(option), option, value, path);
  return value;
}

function mustBeChoice(
  what: string,
  { choices }: Pick<ArgumentSpec, "choices">,
  value: string,
  path: readonly CommandSpec[],
): void {
  if (choices === undefined || choices.includes(value)) return;
  throw wrong(`${what} is one of ${choices.join(", ")}, not "${value}"${didYouMean(value, choices)}`, path);
}

function unknownCommand(word: string, path: readonly CommandSpec[]): Error {
  const known = (path.at(-1)?.commands ?? []).map(({ name }) => name);
  return wrong(`unknown command "${word}"${didYouMean(word, path.length === 1 ? [...known, "help"] : known)}`, path);
}

function unknownOption(flag: string, known: readonly string[], path: readonly CommandSpec[]): Error {
  return wrong(`unknown option ${flag}${didYouMean(flag, known)}`, path);
}

function wrong(what: string, path: readonly CommandSpec[]): Error {
  return usage(`${what}; see ${pathText(path)} --help`);
}

function longOf({ flags }: OptionSpec): string {
  return flags.split(" ")[0] ?? "";
}

function takesValue({ flags }: OptionSpec): boolean {
  return flags.includes(" ");
}

function splitOnce(word: string): [string, string | undefined] {
  const at = word.indexOf("=");
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

/** `--dry-run` is `dryRun`. */
function keyOf(flag: string): string {
  return flag.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
