/**
 * Permissions for commands that start with given words, such as `npm test`. A grant covers one simple command
 * (`parseSimpleCommand`) with any further arguments. It does not limit what the arguments of that command can do.
 */
import { trimEndOf } from "../stdx/trim.ts";
import { findCommandForm, isDestructive } from "./command-programs.ts";
import { parseSimpleCommand, type CommandRequest } from "./shell-command.ts";

/** A person allowed calls of this tool whose command starts with these words, for the rest of the session. */
export interface CommandGrant {
  readonly tool: string;
  /** Words with one space between them. */
  readonly prefix: string;
}

/** Something that a person allowed for the rest of the session. Without a prefix: every call of the tool. */
export interface SessionGrant {
  readonly tool: string;
  readonly prefix?: string | undefined;
}

/** Whether a grant covers the call. `cwd`: the session's directory; a command elsewhere is never covered. */
export function isCommandGranted(
  grants: readonly CommandGrant[],
  request: CommandRequest & { readonly tool: string },
  cwd: string,
): boolean {
  const ofTool = grants.filter(({ tool, prefix }) => tool === request.tool && findPrefixProblem(prefix) === undefined);
  if (ofTool.length === 0) return false;
  const command = parseSimpleCommand(request);
  if (command === undefined || !isSameDirectory(command.directory, cwd)) return false;
  return ofTool.some(({ prefix }) => startsWithWords(command.words, prefix));
}

/** Says why the prefix cannot be the answer to this request, as a clause. Undefined: it can. */
export function findPrefixMismatch(request: CommandRequest, prefix: string): string | undefined {
  const problem = findPrefixProblem(prefix);
  if (problem !== undefined) return problem;
  if (request.kind !== "execute") return "the request is not about a shell command";
  const command = parseSimpleCommand(request);
  if (command === undefined) return "the request is not about one simple command without shell syntax";
  if (startsWithWords(command.words, prefix)) return undefined;
  return `the command does not start with the words ${JSON.stringify(prefix)}`;
}

/** Writes a prefix with one space between its words, as it is stored. */
export function normalizePrefix(prefix: string): string {
  return prefix.split(" ").filter(Boolean).join(" ");
}

/**
 * The prefix that a person is most likely to want to always allow, such as `npm test`. Undefined if none is safe
 * enough.
 */
export function suggestCommandPrefix(request: CommandRequest): string | undefined {
  const words = parseSimpleCommand(request)?.words;
  if (words === undefined) return undefined;
  const prefix = words.slice(0, countUnitWords(words)).join(" ");
  const isOffered =
    !runsDestructive(words) && findPrefixProblem(prefix) === undefined && startsWithWords(words, prefix);
  return isOffered ? prefix : undefined;
}

/** Whether the command, or the program that it starts, is destructive. */
function runsDestructive(words: readonly string[]): boolean {
  const [program = "", second] = words;
  switch (findCommandForm(program, second)) {
    case "program":
      return runsDestructive(words.slice(1));
    case "subcommand program":
      return runsDestructive(words.slice(2));
    default:
      return isDestructive(program, second);
  }
}

/** Everything that is allowed for the session: tools, then commands. */
export function listGrants({
  grants,
  commandGrants,
}: {
  readonly grants: readonly string[];
  readonly commandGrants: readonly CommandGrant[];
}): readonly SessionGrant[] {
  return [...grants.map((tool) => ({ tool })), ...commandGrants];
}

/** What is allowed for the session: a tool, or commands such as `bash: npm test …`. */
export function formatGrant({ tool, prefix }: SessionGrant): string {
  return prefix === undefined ? tool : `${tool}: ${prefix} …`;
}

const MAX_PREFIX_LENGTH = 200;
const PREFIX_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;
/** Not an option, and not an assignment to a variable. */
const PROGRAM = /^[A-Za-z0-9_@+./][A-Za-z0-9_@+:,./-]*$/;
/** A subcommand or the name of a script, not an option, a number or a path. */
const PLAIN_NAME = /^[A-Za-z][A-Za-z0-9_:-]*$/;

/** Returns the reason not to allow everything that starts with these words. Undefined if they are specific enough. */
function findPrefixProblem(prefix: string): string | undefined {
  const words = prefix.split(" ");
  if (prefix.length > MAX_PREFIX_LENGTH || !words.every((word) => PREFIX_WORD.test(word)))
    return "a prefix is the first words of a command, without quotes and special characters";
  return isSpecific(words)
    ? undefined
    : `${JSON.stringify(prefix)} is not specific enough: it could run other commands`;
}

function isSpecific(words: readonly string[]): boolean {
  const [program = "", second = "", third = ""] = words;
  if (!PROGRAM.test(program)) return false;
  switch (findCommandForm(program, second)) {
    case "anything":
      return false;
    case "arguments":
    case "word":
      return true;
    case "subcommand":
      return second !== "" && !second.startsWith("-");
    case "name":
      return third !== "" && !third.startsWith("-");
    case "script":
      return second === "-m" ? PLAIN_NAME.test(third) : second !== "" && !second.startsWith("-");
    case "program":
      return isSpecific(words.slice(1));
    case "subcommand program":
      return isSpecific(words.slice(2));
  }
}

/** How many of the words are the usual unit. May be more than there are. */
function countUnitWords(words: readonly string[]): number {
  const [program = "", second = ""] = words;
  switch (findCommandForm(program, second)) {
    case "anything":
    case "arguments":
      return 1;
    case "word":
    case "subcommand":
      return PLAIN_NAME.test(second) ? 2 : 1;
    case "name":
      return 3;
    case "script":
      return second === "-m" ? 3 : 2;
    case "program":
      return 1 + countUnitWords(words.slice(1));
    case "subcommand program":
      return 2 + countUnitWords(words.slice(2));
  }
}

function startsWithWords(words: readonly string[], prefix: string): boolean {
  return prefix.split(" ").every((word, index) => words[index] === word);
}

function isSameDirectory(directory: string | undefined, cwd: string): boolean {
  return directory === undefined || trimEndOf(directory, "/") === trimEndOf(cwd, "/");
}
