/** Formats the help of a command from its entry in the command table. */
import { type ArgumentSpec, type CommandSpec, type OptionSpec, shortFlag } from "./command.ts";
import { formatColumns } from "./format.ts";
import { formatPath } from "./parse.ts";
import { wrapText } from "./wrap.ts";

/** `width`: the columns of the terminal. Default: unlimited, with the line breaks of the command table. */
export function formatHelp(path: readonly CommandSpec[], width?: number): string {
  const command = path.at(-1) as CommandSpec;
  const { summary, arguments: args = [], options = [], commands = [], notes, examples = [] } = command;
  const shown = commands.filter(({ hidden }) => hidden !== true);
  const flags = [
    ...options.map((option) => [
      formatFlags(option),
      withChoices(option) + (option.repeatable === true ? REPEATABLE_HINT : ""),
    ]),
    ...(path.length === 1 ? [["--version", "print the version"]] : []),
    ["--help", "show help for this command"],
  ];
  const inner = shown.map((spec) => [
    formatCall(spec),
    spec.summary + (spec.name === command.defaultCommand ? " (default)" : ""),
  ]);
  if (path.length === 1) inner.push(["help [command]", "show help for a command"]);
  const sections = [
    wrapText(`${summary.replace(/^\w/, (letter) => letter.toUpperCase())}.\n`, { width, indent: "" }),
    `Usage: ${formatPath(path)} ${commands.length > 0 ? "<command>" : formatArguments(args).join(" ")}\n`,
    section("Commands", inner, width),
    section(
      "Arguments",
      args.map((argument) => [argument.name, withChoices(argument)]),
      width,
    ),
    section("Options", flags, width),
    notes === undefined
      ? ""
      : `${width === undefined ? notes : wrapText(notes.replaceAll("\n", " "), { width, indent: "" })}\n`,
    examples.length === 0 ? "" : `Examples:\n${examples.map((line) => `  ${line}\n`).join("")}`,
  ];
  return sections.filter((text) => text !== "").join("\n");
}

const REPEATABLE_HINT = " (repeatable)";

function formatFlags(option: OptionSpec): string {
  const short = shortFlag(option);
  return short === undefined ? option.flags : `${short}, ${option.flags}`;
}

function section(title: string, rows: readonly (readonly string[])[], width: number | undefined): string {
  return rows.length === 0
    ? ""
    : `${title}:\n${formatColumns(
        rows.map(([first = "", ...rest]) => [`  ${first}`, ...rest]),
        width,
      )}`;
}

function formatCall({ name, arguments: args = [], commands }: CommandSpec): string {
  return [name, ...(commands === undefined ? args.map(formatArgument) : ["<command>"])].join(" ");
}

/** An argument that is itself a command line comes after the options. */
function formatArguments(args: readonly ArgumentSpec[]): string[] {
  const ours = args.filter(({ rest }) => rest !== true).map(formatArgument);
  const theirs = args.filter(({ rest }) => rest === true).map(formatArgument);
  return [...ours, "[options]", ...(theirs.length > 0 ? ["--", ...theirs] : [])];
}

function formatArgument({ name, optional, rest }: ArgumentSpec): string {
  const many = rest === true ? `${name}…` : name;
  return optional === true ? `[${many}]` : `<${many}>`;
}

function withChoices({ summary, choices }: Pick<ArgumentSpec, "summary" | "choices">): string {
  return choices === undefined ? summary : `${summary}: ${choices.join(", ")}`;
}
