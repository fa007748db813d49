/** Formats the help of a command from its entry in the command table. */
import { type ArgumentSpec, COMMAND_GROUPS, type CommandSpec, type OptionSpec, shortFlag } from "./command.ts";
import { formatColumns } from "./format.ts";
import { type Paint, plainPaint } from "./paint.ts";
import { formatPath } from "./parse.ts";
import { wrapShellLine, wrapText } from "./wrap.ts";

export interface HelpFormat {
  /** The columns of the terminal. Default: unlimited, with the line breaks of the command table. */
  readonly width?: number | undefined;
  /** Default: no colors. */
  readonly paint?: Paint;
}

export function formatHelp(path: readonly CommandSpec[], format: HelpFormat = {}): string {
  const { width, paint = plainPaint } = format;
  const command = path.at(-1) as CommandSpec;
  const { summary, arguments: args = [], notes, examples = [] } = command;
  const sections = [
    wrapText(`${summary.replace(/^\w/, (letter) => letter.toUpperCase())}.\n`, { width, indent: "" }),
    formatSynopsis(path),
    path.length === 1 ? formatGroups(command, format) : section("Commands", subcommandRows(command), format),
    section(
      "Arguments",
      args.map((argument) => [argument.name, withChoices(argument)]),
      format,
    ),
    section("Options", optionRows(path), format),
    notes === undefined
      ? ""
      : `${width === undefined ? notes : wrapText(notes.replaceAll("\n", " "), { width, indent: "" })}\n`,
    examples.length === 0
      ? ""
      : `${paint("bold", "Examples:")}\n${examples.map((line) => `${wrapShellLine(`  ${line}`, width)}\n`).join("")}`,
  ];
  return sections.filter((text) => text !== "").join("\n");
}

function formatSynopsis(path: readonly CommandSpec[]): string {
  const { arguments: args = [], commands = [] } = path.at(-1) as CommandSpec;
  const name = formatPath(path);
  if (path.length === 1) {
    return `Usage: ${name} [options] ["prompt"]  talk with an agent here\n       ${name} <command>\n`;
  }
  return `Usage: ${name} ${commands.length > 0 ? "<command>" : formatArguments(args).join(" ")}\n`;
}

/** The commands of the program, with the name of their group before the first one. */
function formatGroups(program: CommandSpec, { width, paint = plainPaint }: HelpFormat): string {
  const commands = (program.commands ?? []).filter(({ hidden }) => hidden !== true);
  const widest = Math.max(...COMMAND_GROUPS.map(({ length }) => length));
  const lines = COMMAND_GROUPS.flatMap((group) =>
    commands
      .filter((command) => command.group === group)
      .map(({ name, summary }, index) => [`${(index === 0 ? group : "").padEnd(widest)}  ${name}`, summary]),
  );
  return formatColumns(lines, width).replaceAll(/^[A-Z][a-z ]+?(?= {2})/gm, (group) => paint("bold", group));
}

function subcommandRows({ commands = [], defaultCommand }: CommandSpec): string[][] {
  return commands
    .filter(({ hidden }) => hidden !== true)
    .map((spec) => [formatCall(spec), spec.summary + (spec.name === defaultCommand ? " (default)" : "")]);
}

/** The program shows the options of the chat that people use most. */
const PROGRAM_OPTIONS: ReadonlySet<string> = new Set(["-c", "-r", "-a", "-m"]);

function optionRows(path: readonly CommandSpec[]): string[][] {
  const { options = [], commands = [], defaultCommand } = path.at(-1) as CommandSpec;
  if (path.length > 1) return [...options.map(optionRow), ["--help", "show help for this command"]];
  const chat = commands.find(({ name }) => name === defaultCommand)?.options ?? [];
  return [
    ...chat.filter((option) => PROGRAM_OPTIONS.has(shortFlag(option) ?? "")).map(optionRow),
    ["-v, --version", "print the version"],
    ["-h, --help", "show this help, or the help of a command"],
  ];
}

function optionRow(option: OptionSpec): string[] {
  return [formatFlags(option), withChoices(option) + (option.repeatable === true ? REPEATABLE_HINT : "")];
}

const REPEATABLE_HINT = " (repeatable)";

function formatFlags(option: OptionSpec): string {
  const short = shortFlag(option);
  return short === undefined ? option.flags : `${short}, ${option.flags}`;
}

function section(
  title: string,
  rows: readonly (readonly string[])[],
  { width, paint = plainPaint }: HelpFormat,
): string {
  return rows.length === 0
    ? ""
    : `${paint("bold", `${title}:`)}\n${formatColumns(
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
