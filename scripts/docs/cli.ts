/** The command-line reference, from the table of commands. */
import { type CommandSpec, type OptionSpec, shortFlag } from "../../src/cli/command.ts";
import { PROGRAM } from "../../src/cli/commands.ts";
import { code, fence, page, table } from "./markdown.ts";

export function cliPage(): string {
  return page("Command-line reference", "src/cli/commands.ts", [
    "Every command accepts `--help`. `rookery --version` prints the version. Errors go to stderr, one line each. Exit codes: 0 done, 1 failed, 2 wrong usage, input or configuration, 3 needs a decision nobody could make, 130 cancelled.",
    table(
      ["command", "what it does"],
      leaves([PROGRAM]).map(({ path, command }) => [`[${code(path)}](#${anchor(path)})`, command.summary]),
    ),
    ...leaves([PROGRAM]).map(section),
  ]);
}

interface Leaf {
  readonly path: string;
  readonly command: CommandSpec;
  readonly isDefault: boolean;
}

function leaves(path: readonly CommandSpec[]): Leaf[] {
  const [command, ...above] = path.toReversed();
  if (command === undefined) return [];
  const inner = (command.commands ?? []).filter(({ hidden }) => hidden !== true);
  if (inner.length > 0) return inner.flatMap((next) => leaves([...path, next]));
  const isDefault = above[0]?.defaultCommand === command.name;
  return [{ path: path.map(({ name }) => name).join(" "), command, isDefault }];
}

function section({ path, command, isDefault }: Leaf): string {
  const { arguments: args = [], options = [], notes, examples = [] } = command;
  const shorter = isDefault ? ` ${code(path.split(" ").slice(0, -1).join(" "))} alone means this command.` : "";
  return [
    `## ${path}`,
    `${sentence(command.summary)}${shorter}`,
    table(
      ["argument", "meaning"],
      args.map((argument) => [
        code(argument.optional === true ? `[${argument.name}]` : `<${argument.name}>`),
        withChoices(argument.summary, argument.choices),
      ]),
    ),
    table(
      ["option", "meaning"],
      options.map((option) => [flags(option), meaning(option)]),
    ),
    notes === undefined ? "" : notes.replaceAll("\n", " "),
    examples.length === 0 ? "" : fence("sh", examples.join("\n")),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function flags(option: OptionSpec): string {
  const { flags: long } = option;
  const short = shortFlag(option);
  return short === undefined ? code(long) : `${code(short)}, ${code(long)}`;
}

function meaning({ summary, choices, repeatable }: OptionSpec): string {
  return withChoices(summary, choices) + (repeatable === true ? " (repeatable)" : "");
}

function withChoices(summary: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? summary : `${summary}: ${choices.map(code).join(", ")}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function anchor(path: string): string {
  return path.replaceAll(" ", "-");
}
