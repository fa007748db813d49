/** The shape of a command: a row of the table that parsing, help and shell completion are made from. */
import type { ExitCode } from "./exit.ts";
import type { Io } from "./io.ts";

export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** Lines for the help; each starts with what to type. */
  readonly examples?: readonly string[];
  readonly notes?: string;
  readonly commands?: readonly CommandSpec[];
  /** The one of `commands` that is meant where none is named. */
  readonly defaultCommand?: string;
  /** Only for programs: no help and no completion names it. */
  readonly hidden?: boolean;
  /** Loads the command's code, and nothing before it is needed. */
  readonly load?: () => Promise<CommandAction>;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** Takes all that is left, also what looks like an option; only the last may. */
  readonly rest?: boolean;
  readonly choices?: readonly string[];
}

export interface OptionSpec {
  /** `--name` or `--name <value>`. */
  readonly flags: string;
  /** One letter that is typed instead of `--name`: `-f`. */
  readonly short?: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  /** May be given several times; its value is a list then. */
  readonly repeatable?: boolean;
}

export type CommandAction = (call: CommandCall) => Promise<ExitCode>;

export interface CommandCall {
  readonly io: Io;
  readonly args: readonly (string | undefined)[];
  readonly options: OptionValues;
}

/** By the option's name in camel case. */
export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
