/** Lists which words can follow each command, for the completion scripts. */
import type { CommandSpec } from "../command.ts";
import { argumentKind, optionKind, type CompletionKind } from "./kinds.ts";

export interface CompletionNode {
  /** The commands typed so far, such as `sessions events`. Empty at the start. */
  readonly path: string;
  readonly commands: readonly CompletionWord[];
  readonly options: readonly CompletionFlag[];
  readonly arguments: readonly CompletionValue[];
}

/** What can be typed as an argument or as the value of an option. */
export interface CompletionValue {
  /** Empty if any value is valid. */
  readonly choices: readonly string[];
  /** Completes the value if there are no choices. */
  readonly kind: CompletionKind | undefined;
}

export interface CompletionWord {
  readonly word: string;
  readonly summary: string;
}

export interface CompletionFlag extends CompletionWord {
  /** Undefined if the option takes no value. */
  readonly value: CompletionValue | undefined;
}

const HELP: CompletionFlag = { word: "--help", summary: "show help for this command", value: undefined };
const VERSION: CompletionFlag = { word: "--version", summary: "print the version", value: undefined };

export function listCompletionNodes(all: readonly CommandSpec[]): CompletionNode[] {
  const commands = all.filter(({ hidden }) => hidden !== true);
  const help = { word: "help", summary: "show help for a command" };
  const start = { path: "", commands: [...commands.map(toWord), help], options: [HELP, VERSION], arguments: [] };
  const names = commands.map(({ name }) => name);
  const explain = { path: "help", commands: [], options: [HELP], arguments: [{ choices: names, kind: undefined }] };
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
    arguments: (spec.arguments ?? []).map(({ name, choices = [] }) => ({ choices, kind: argumentKind(path, name) })),
  };
  return [place, ...inner.flatMap((command) => nodesUnder(path, command))];
}

function toWord({ name, summary }: CommandSpec): CompletionWord {
  return { word: name, summary };
}

function toFlag({ flags, summary, choices }: NonNullable<CommandSpec["options"]>[number]): CompletionFlag {
  const [word = "", value] = flags.split(" ");
  return {
    word,
    summary,
    value: value === undefined ? undefined : { choices: choices ?? [], kind: optionKind(word) },
  };
}
