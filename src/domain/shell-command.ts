/**
 * Reads the shell command of a permission request, if it is one simple command. This is a boundary: the text comes from
 * a model, so only characters that are known to be harmless in every shell pass, and nothing is interpreted.
 */
import type { ToolKind } from "./events.ts";

/** The part of a permission request that tells what it would run. */
export interface CommandRequest {
  readonly kind: ToolKind;
  readonly input: unknown;
}

/** One command without shell syntax. */
export interface SimpleCommand {
  /** As they are written, quotes included. */
  readonly words: readonly string[];
  /** The directory that the call names. Undefined: that of the session. */
  readonly directory: string | undefined;
}

/** The command of a call as a shell takes it, or as a program and its arguments. Undefined for other calls. */
export function readCommandInput(input: unknown): string | readonly string[] | undefined {
  if (!isRecord(input)) return undefined;
  const { command, args } = input;
  if (args !== undefined && args !== null && !isWordList(args)) return undefined;
  const hasArguments = args != null && args.length > 0;
  if (isWordList(command)) return hasArguments ? undefined : toShellLine(command);
  if (typeof command !== "string") return undefined;
  return hasArguments ? [command, ...args] : command;
}

/**
 * Returns undefined if the request runs no shell command, or if its command has shell syntax, an environment, or an
 * argument that this version does not know.
 */
export function parseSimpleCommand({ kind, input }: CommandRequest): SimpleCommand | undefined {
  if (kind !== "execute" || !isRecord(input)) return undefined;
  const known = Object.entries(input).every(([name, value]) => isKnownArgument(name, value));
  const command = known ? readCommandInput(input) : undefined;
  const words = typeof command === "string" ? splitPlainLine(command) : command && checkPlainWords(command);
  if (words === undefined || words.length === 0) return undefined;
  const directories = DIRECTORY_FIELDS.flatMap((name) => (input[name] == null ? [] : [input[name] as string]));
  return directories.length > 1 ? undefined : { words, directory: directories[0] };
}

/** Longer commands are never simple: nobody reads them, and an agent may have shortened them. */
const MAX_COMMAND_LENGTH = 1_000;
/**
 * Letters, digits and punctuation of ASCII that start nothing in sh, bash, zsh, dash, ksh and fish. Not among them:
 * separators, pipes, redirections, substitutions, variables, escapes, history, comments, braces, brackets and every
 * control, invisible or non-ASCII character. `*`, `?` and `~` expand to arguments only.
 */
const PLAIN_LINE = /^[A-Za-z0-9 _@%+=:,./*?~'"-]+$/;
const PLAIN_ARGUMENT = /^[A-Za-z0-9 _@%+=:,./*?~-]+$/;
const WORD = /(?:[^ '"]|'[^']*'|"[^"]*")+/g;

/** Returns undefined for a line with shell syntax or with a quote that is not closed. */
function splitPlainLine(line: string): string[] | undefined {
  if (line.length > MAX_COMMAND_LENGTH || !PLAIN_LINE.test(line)) return undefined;
  const isClosed = line.replaceAll(WORD, "").trim() === "";
  return isClosed ? (line.match(WORD) ?? undefined) : undefined;
}

/** As strict as for a line without quotes, because some agents join the arguments and pass them to a shell. */
function checkPlainWords(words: readonly string[]): readonly string[] | undefined {
  const length = words.reduce((sum, word) => sum + word.length + 1, 0);
  return length <= MAX_COMMAND_LENGTH && words.every((word) => PLAIN_ARGUMENT.test(word)) ? words : undefined;
}

/** Codex passes a line to a shell as three words. Other arrays are a program and its arguments. */
function toShellLine(words: readonly string[]): string | readonly string[] {
  const [shell = "", flag = "", line] = words;
  const isShell = words.length === 3 && /^(?:(?:\/usr)?\/bin\/)?(?:ba|da|z)?sh$/.test(shell) && /^-l?c$/.test(flag);
  return isShell && line !== undefined ? line : words;
}

/** Names of arguments that give the working directory. */
export const DIRECTORY_FIELDS: readonly string[] = ["cwd", "workdir", "working_directory", "directory", "dir_path"];
/** Arguments that do not change what runs. */
const HARMLESS = new Set([
  ...["description", "sessionId", "outputByteLimit", "timeout", "timeout_ms", "max_output_tokens", "yield_time_ms"],
  ...["background", "run_in_background", "is_background"],
]);

/** Anything else may change what runs or where, such as an argument that leaves a sandbox. */
function isKnownArgument(name: string, value: unknown): boolean {
  if (name === "command" || name === "args" || HARMLESS.has(name) || value === undefined || value === null) return true;
  if (DIRECTORY_FIELDS.includes(name)) return typeof value === "string";
  return name === "env" && typeof value === "object" && Object.keys(value).length === 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWordList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}
