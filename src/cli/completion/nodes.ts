/** Lists which words can follow each command, for the completion scripts. */
import type { CommandSpec } from "../command.ts";

export interface CompletionNode {
  /** The commands typed so far, such as `sessions events`. Empty at the start. */
  readonly path: string;
  readonly commands: readonly CompletionWord[];
  readonly options: readonly CompletionFlag[];
  /** The choices of each argument. Empty if any value is valid. */
  readonly arguments: readonly (readonly string[])[];
}

export interface CompletionWord {
  readonly word: string;
  readonly summary: string;
}

export interface CompletionFlag extends CompletionWord {
  /** Undefined if the option takes no value. Empty if any value is valid. */
  readonly values: readonly string[] | undefined;
}

const HELP: CompletionFlag = { word: "--help", summary: "show help for this command", values: undefined };
const VERSION: CompletionFlag = { word: "--version", summary: "print the version", values: undefined };

export function listCompletionNodes(commands: readonly CommandSpec[]): CompletionNode[] {
  const help = { word: "help", summary: "show help for a command" };
  const start = { path: "", commands: [...commands.map(toWord), help], options: [HELP, VERSION], arguments: [] };
  const names = commands.map(({ name }) => name);
  const explain = { path: "help", commands: [], options: [HELP], arguments: [names] };
  return [start, ...commands.flatMap((command) => nodesUnder("", command)), explain];
}

function nodesUnder(above: string, spec: CommandSpec): CompletionNode[] {
  const path = `${above} ${spec.name}`.trim();
  const inner = (spec.commands ?? []).filter(({ hidden }) => hidden !== true);
  const otherwise = inner.find(({ name }) => name === spec.defaultCommand);
  const options = [...(spec.options ?? []), ...(otherwise?.options ?? [])].map(toFlag);
  const place: CompletionNode = {
    path,
    commands: inner.map(toWord),
    options: [...options, HELP],
    arguments: (spec.arguments ?? []).map(({ choices = [] }) => choices),
  };
  return [place, ...inner.flatMap((command) => nodesUnder(path, command))];
}

function toWord({ name, summary }: CommandSpec): CompletionWord {
  return { word: name, summary };
}

function toFlag({ flags, summary, choices }: NonNullable<CommandSpec["options"]>[number]): CompletionFlag {
  const [word = "", value] = flags.split(" ");
  return { word, summary, values: value === undefined ? undefined : (choices ?? []) };
}
