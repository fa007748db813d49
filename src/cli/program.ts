/** From what was typed to an exit code: builds the parser from the table, and says in one line what is wrong. */
import { Argument, Command, CommanderError, Option } from "commander";
import { didYouMean } from "../config/nearest.ts";
import type { Action, CommandSpec } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { EXIT, type ExitCode, report, usage } from "./exit.ts";
import { type Io, processIo } from "./io.ts";

/** Never resolves: the process ends when its output is written. */
export async function runProgram(args: readonly string[], version: string): Promise<void> {
  const io = processIo(version);
  endQuietlyWithReader();
  const code = await interpret(io, args);
  await new Promise<void>((resolve) => io.stdout.write("", () => resolve()));
  process.exit(code); // a child's pipe or a library's timer must not keep a finished command alive
}

/** Never rejects. */
export async function interpret(io: Io, args: readonly string[]): Promise<ExitCode> {
  try {
    if (args.length === 0) return await (await import("./welcome.ts")).welcome({ io, args: [], options: {} });
    const outcome: { code: ExitCode } = { code: EXIT.done };
    const program = programOf(io, (code) => (outcome.code = code));
    try {
      await program.parseAsync([...args], { from: "user" });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      if (error.exitCode !== 0) throw usageOf(error, program, args);
    }
    return outcome.code;
  } catch (error) {
    return report(io, error);
  }
}

/** `rookery sessions events | head`: the reader has had enough, which is no mistake of anyone. */
function endQuietlyWithReader(): void {
  process.stderr.on("error", () => undefined);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (!process.emit("SIGPIPE")) process.exit(EXIT.done);
  });
}

function programOf(io: Io, ended: (code: ExitCode) => void): Command {
  const program = new Command("rookery")
    .description("One durable runtime for every coding agent.")
    .version(io.version, "-V, --version", "print the version")
    .helpCommand("help [command]", "explain a command");
  for (const spec of COMMANDS) program.addCommand(commandOf(spec, io, ended));
  program.addHelpText("after", EXIT_CODES);
  configure(program, io);
  return program;
}

function commandOf(spec: CommandSpec, io: Io, ended: (code: ExitCode) => void): Command {
  const command = new Command(spec.name).description(spec.summary);
  for (const { name, summary, optional = false, choices } of spec.arguments ?? []) {
    const argument = new Argument(optional ? `[${name}]` : `<${name}>`, summary);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const { flags, summary, choices } of spec.options ?? []) {
    const option = new Option(flags, summary);
    command.addOption(choices === undefined ? option : option.choices(choices));
  }
  for (const inner of spec.commands ?? []) {
    const made = commandOf(inner, io, ended);
    if (inner.name === spec.otherwise) made.allowExcessArguments(); // so that a mistyped sibling can be named
    command.addCommand(made, { isDefault: inner.name === spec.otherwise });
  }
  if (spec.notes !== undefined) command.addHelpText("after", `\n${spec.notes}`);
  if (spec.examples !== undefined) command.addHelpText("after", `\nExamples:\n  ${spec.examples.join("\n  ")}`);
  if (spec.load !== undefined) attach(command, spec, spec.load, { io, ended });
  return configure(command, io);
}

function attach(
  command: Command,
  spec: CommandSpec,
  load: () => Promise<Action>,
  { io, ended }: { io: Io; ended: (code: ExitCode) => void },
): void {
  command.action(async () => {
    const excess = command.args[spec.arguments?.length ?? 0];
    if (excess !== undefined) throw unknownCommand(excess, command.parent ?? command);
    const action = await load();
    ended(await action({ io, args: command.processedArgs as (string | undefined)[], options: command.opts() }));
  });
}

function configure(command: Command, io: Io): Command {
  return command
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: () => undefined, // said by `report`
      getOutHelpWidth: () => 100,
    });
}

function usageOf(error: CommanderError, program: Command, args: readonly string[]): Error {
  const command = commandAt(program, args);
  const [, name = ""] = /'(.*?)'/.exec(error.message) ?? [];
  if (error.code === "commander.unknownCommand") return unknownCommand(name, command);
  const flags = command.options.flatMap(({ long }) => long ?? []).concat("--help");
  const guess = error.code === "commander.unknownOption" ? didYouMean(name, flags) : "";
  const what = error.message.replace(/^error: /, "").replace(/\.$/, "");
  return usage(`${what}${guess}; see ${pathOf(command)} --help`);
}

function unknownCommand(name: string, parent: Command): Error {
  const guess = didYouMean(
    name,
    parent.commands.map((known) => known.name()),
  );
  return usage(`unknown command '${name}'${guess}; see ${pathOf(parent)} --help`);
}

/** The innermost command that was named. */
function commandAt(program: Command, args: readonly string[]): Command {
  return args.reduce((command, word) => command.commands.find((inner) => inner.name() === word) ?? command, program);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 wrong usage, input or configuration, 3 needs a decision nobody could take,
130 cancelled. ROOKERY_DEBUG=1 shows where an error came from.`;
