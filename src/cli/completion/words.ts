/** What can be typed after what, as every shell needs it. */
import type { CommandSpec } from "../command.ts";

export interface Place {
  /** The commands typed so far, e.g. `sessions events`; empty at the start. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Flag[];
  /** The choices of each argument; empty where anything goes. */
  readonly arguments: readonly (readonly string[])[];
}

export interface Word {
  readonly word: string;
  readonly summary: string;
}

export interface Flag extends Word {
  /** Undefined where the option takes no value; empty where it takes any. */
  readonly values: readonly string[] | undefined;
}

const HELP: Flag = { word: "--help", summary: "explain this command", values: undefined };
const VERSION: Flag = { word: "--version", summary: "print the version", values: undefined };

export function placesOf(commands: readonly CommandSpec[]): Place[] {
  const help = { word: "help", summary: "explain a command" };
  const start = { path: "", commands: [...commands.map(wordOf), help], options: [HELP, VERSION], arguments: [] };
  const names = commands.map(({ name }) => name);
  const explain = { path: "help", commands: [], options: [HELP], arguments: [names] };
  return [start, ...commands.flatMap((command) => placesUnder("", command)), explain];
}

function placesUnder(above: string, spec: CommandSpec): Place[] {
  const path = `${above} ${spec.name}`.trim();
  const inner = (spec.commands ?? []).filter(({ hidden }) => hidden !== true);
  const otherwise = inner.find(({ name }) => name === spec.otherwise);
  const options = [...(spec.options ?? []), ...(otherwise?.options ?? [])].map(flagOf);
  const place: Place = {
    path,
    commands: inner.map(wordOf),
    options: [...options, HELP],
    arguments: (spec.arguments ?? []).map(({ choices = [] }) => choices),
  };
  return [place, ...inner.flatMap((command) => placesUnder(path, command))];
}

function wordOf({ name, summary }: CommandSpec): Word {
  return { word: name, summary };
}

function flagOf({ flags, summary, choices }: NonNullable<CommandSpec["options"]>[number]): Flag {
  const [word = "", value] = flags.split(" ");
  return { word, summary, values: value === undefined ? undefined : (choices ?? []) };
}
