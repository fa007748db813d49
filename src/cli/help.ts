/** The help of a command, from its row in the table. */
import type { ArgumentSpec, CommandSpec } from "./command.ts";
import { columns } from "./format.ts";
import { pathText } from "./parse.ts";

export function helpText(path: readonly CommandSpec[]): string {
  const command = path.at(-1) as CommandSpec;
  const { summary, arguments: args = [], options = [], commands = [], notes, examples = [] } = command;
  const flags = [
    ...options.map((option) => [option.flags, withChoices(option)]),
    ...(path.length === 1 ? [["--version", "print the version"]] : []),
    ["--help", "explain this command"],
  ];
  const inner = commands.map((spec) => [
    callOf(spec),
    spec.summary + (spec.name === command.otherwise ? " (default)" : ""),
  ]);
  if (path.length === 1) inner.push(["help [command]", "explain a command"]);
  const sections = [
    `${summary.replace(/^\w/, (letter) => letter.toUpperCase())}.\n`,
    `Usage: ${pathText(path)} ${commands.length > 0 ? "<command>" : [...args.map(placeOf), "[options]"].join(" ")}\n`,
    section("Commands", inner),
    section(
      "Arguments",
      args.map((argument) => [argument.name, withChoices(argument)]),
    ),
    section("Options", flags),
    notes === undefined ? "" : `${notes}\n`,
    examples.length === 0 ? "" : `Examples:\n${examples.map((line) => `  ${line}\n`).join("")}`,
  ];
  return sections.filter((text) => text !== "").join("\n");
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `${title}:\n${columns(rows.map(([first = "", ...rest]) => [`  ${first}`, ...rest]))}`;
}

function callOf({ name, arguments: args = [], commands }: CommandSpec): string {
  return [
    name,
    ...(commands === undefined ? args.map(placeOf) : [`[${commands.map((inner) => inner.name).join("|")}]`]),
  ].join(" ");
}

function placeOf({ name, optional }: ArgumentSpec): string {
  return optional === true ? `[${name}]` : `<${name}>`;
}

function withChoices({ summary, choices }: Pick<ArgumentSpec, "summary" | "choices">): string {
  return choices === undefined ? summary : `${summary}: ${choices.join(", ")}`;
}
