/** Finds what can be typed at the end of a command line. Pure: the command table and words in, the target out. */
import { type ArgumentSpec, type CommandSpec, longFlag, type OptionSpec, shortFlag, takesValue } from "../command.ts";
import { countEarlyOptions } from "../early-options.ts";
import { findCommand } from "../find-command.ts";
import { splitAssignment } from "../../stdx/split-assignment.ts";
import type { CompletionCandidate } from "./candidate.ts";
import { argumentKind, optionKind, type CompletionKind } from "./kinds.ts";

export interface CompletionTarget {
  /** The part of the last word that was typed, without `--option=`. */
  readonly typed: string;
  /** What is before it in the last word: `--option=`, or empty. */
  readonly prefix: string;
  readonly words: readonly CompletionCandidate[];
  /** Further words that need the configuration or the log, or paths. */
  readonly kind: CompletionKind | undefined;
  /** The arguments before the last word. */
  readonly args: readonly string[];
}

const HELP_FLAG: CompletionCandidate = { word: "--help", summary: "show help for this command" };
const VERSION_FLAG: CompletionCandidate = { word: "--version", summary: "print the version" };
const HELP_COMMAND: CompletionCandidate = { word: "help", summary: "show help for a command" };

/** `words`: what was typed after `rookery`; the last one is to be completed, and can be empty. */
export function findCompletionTarget(root: CommandSpec, words: readonly string[]): CompletionTarget {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? "";
  if (before[0] === "help") return helpTarget(root, before.slice(1), typed);
  let command = root;
  let names = "";
  const early: string[] = []; // options before the name of their command
  let index = 0;
  while (command.commands !== undefined && index < before.length) {
    const skipped = countEarlyOptions(command, before.slice(index));
    early.push(...before.slice(index, index + skipped));
    index += skipped;
    const named = findCommand(command.commands, before[index]);
    const next = named ?? (before[index]?.startsWith("-") === true ? defaultCommand(command) : undefined);
    if (next === undefined) return nothing(typed);
    command = next;
    names = `${names} ${next.name}`.trim();
    if (named !== undefined) index += 1;
  }
  if (command.commands === undefined)
    return leafTarget(command, { names, before: [...early, ...before.slice(index)], typed });
  if (!typed.startsWith("-")) {
    return { ...nothing(typed), words: [...visible(command), ...(command === root ? [HELP_COMMAND] : [])] };
  }
  const inner = leafTarget(defaultCommand(command) ?? command, { names, before: [], typed });
  return command === root && inner.prefix === "" ? { ...inner, words: [...inner.words, VERSION_FLAG] } : inner;
}

function helpTarget(root: CommandSpec, path: readonly string[], typed: string): CompletionTarget {
  let command: CommandSpec | undefined = root;
  for (const name of path) command = findCommand(command?.commands ?? [], name);
  return { ...nothing(typed), words: command === undefined ? [] : visible(command) };
}

interface LeafWords {
  readonly names: string;
  /** The words between the command and the last word. */
  readonly before: readonly string[];
  readonly typed: string;
}

function leafTarget(command: CommandSpec, { names, before, typed }: LeafWords): CompletionTarget {
  const { arguments: expected = [], options = [] } = command;
  const restAt = expected.findIndex(({ rest }) => rest === true);
  const args: string[] = [];
  const given = new Set<OptionSpec>();
  let isLiteral = false;
  for (let index = 0; index < before.length; index += 1) {
    const word = before[index] ?? "";
    if (args.length === restAt && (isLiteral || !word.startsWith("-"))) return nothing(typed); // another command line
    if (isLiteral || word === "-" || !word.startsWith("-")) args.push(word);
    else if (word === "--") isLiteral = true;
    else {
      const [flag, inline] = splitAssignment(word);
      const option = options.find((each) => longFlag(each) === flag || shortFlag(each) === flag);
      if (option === undefined) continue;
      given.add(option);
      if (!takesValue(option) || inline !== undefined) continue;
      index += 1;
      if (index === before.length) return { ...valueTarget(option, typed), args };
    }
  }
  if (!isLiteral && typed.startsWith("-")) return flagTarget(options, given, typed);
  return argumentTarget(expected, { names, args, typed });
}

function flagTarget(options: readonly OptionSpec[], given: ReadonlySet<OptionSpec>, typed: string): CompletionTarget {
  const [flag, inline] = splitAssignment(typed);
  const named = options.find((option) => longFlag(option) === flag && takesValue(option));
  if (named !== undefined && inline !== undefined) return { ...valueTarget(named, inline), prefix: `${flag}=` };
  const words = options
    .filter((option) => option.repeatable === true || !given.has(option))
    .map((option) => ({ word: shortFlag(option) === typed ? typed : longFlag(option), summary: option.summary }));
  return { ...nothing(typed), words: [...words, HELP_FLAG] };
}

function valueTarget({ choices = [], ...option }: OptionSpec, typed: string): CompletionTarget {
  return { ...nothing(typed), words: choices.map(toChoice), kind: optionKind(longFlag(option)) };
}

/** An optional argument may be left out, so the words of those after it are offered too. */
function argumentTarget(
  expected: readonly ArgumentSpec[],
  { names, args, typed }: { readonly names: string; readonly args: readonly string[]; readonly typed: string },
): CompletionTarget {
  const current = expected[args.length];
  if (current === undefined) return nothing(typed);
  const possible = current.optional === true ? expected.slice(args.length) : [current];
  return {
    ...nothing(typed),
    words: possible.flatMap(({ choices = [] }) => choices).map(toChoice),
    kind: argumentKind(names, current.name),
    args,
  };
}

function nothing(typed: string): CompletionTarget {
  return { typed, prefix: "", words: [], kind: undefined, args: [] };
}

function toChoice(word: string): CompletionCandidate {
  return { word };
}

function visible({ commands = [] }: CommandSpec): CompletionCandidate[] {
  return commands.filter(({ hidden }) => hidden !== true).map(({ name, summary }) => ({ word: name, summary }));
}

function defaultCommand({ commands = [], defaultCommand: name }: CommandSpec): CommandSpec | undefined {
  return commands.find((command) => command.name === name);
}
