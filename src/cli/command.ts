/** The type of an entry in the command table, which parsing, help, completion and the reference are generated from. */
import type { ExitCode } from "./exit.ts";
import type { Io } from "./io.ts";

export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  /** The group in the help of the program. */
  readonly group?: CommandGroup;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** Example command lines for the help. */
  readonly examples?: readonly string[];
  readonly notes?: string;
  readonly commands?: readonly CommandSpec[];
  /** The subcommand that runs if none is given. */
  readonly defaultCommand?: string;
  /** Hidden from help and completion; only for programs. */
  readonly hidden?: boolean;
  /** Loads the code of the command when it runs. */
  readonly load?: () => Promise<CommandAction>;
}

/** In the order of the help. */
export const COMMAND_GROUPS = ["Talk", "Tasks", "History", "Set up", "Connect"] as const;
export type CommandGroup = (typeof COMMAND_GROUPS)[number];

export interface ArgumentSpec {
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** Takes all remaining words, including options. Only valid for the last argument. */
  readonly rest?: boolean;
  readonly choices?: readonly string[];
  /** Accepts other values than the choices. Default: false. */
  readonly acceptsOther?: boolean;
}

export interface OptionSpec {
  /** `--name` or `--name <value>`. */
  readonly flags: string;
  /** Short form, such as `-f`. */
  readonly short?: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  /** The option can be repeated; its value is a list. */
  readonly repeatable?: boolean;
}

/** Short forms of options that many commands have. */
const SHARED_SHORT_FLAGS: Readonly<Record<string, string>> = {
  "--agent": "-a",
  "--model": "-m",
  "--session": "-s",
  "--permissions": "-p",
};

/** The short form of an option: its own, or the one that the option has in all commands. */
export function shortFlag({ flags, short }: OptionSpec): string | undefined {
  return short ?? SHARED_SHORT_FLAGS[longFlag({ flags })];
}

/** Returns the option without its value, such as `--agent`. */
export function longFlag({ flags }: Pick<OptionSpec, "flags">): string {
  return flags.split(" ")[0] ?? "";
}

export function takesValue({ flags }: Pick<OptionSpec, "flags">): boolean {
  return flags.includes(" ");
}

export type CommandAction = (call: CommandCall) => Promise<ExitCode>;

export interface CommandCall {
  readonly io: Io;
  readonly args: readonly (string | undefined)[];
  readonly options: OptionValues;
}

/** Option values by option name in camel case. */
export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
