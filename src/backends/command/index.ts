/** The `command` backend: any program that takes a prompt and prints an answer, a process for each turn. */
import { NO_CAPABILITIES, RookeryError, type Backend, type BackendContext } from "../../domain/index.ts";
import { mustRun, programOf } from "../../programs/index.ts";
import { programBackend, type Program, type ProgramOptions } from "../program/index.ts";
import { placeholdersIn } from "./filling.ts";
import { commandProgram } from "./live.ts";
import { pathOf, type Path } from "./path.ts";

export interface CommandOptions extends ProgramOptions {
  /** Its program gets a terminal. */
  readonly pty?: boolean | undefined;
  /** What starts it for a session that it knows. */
  readonly resumeCommand?: readonly string[] | undefined;
  /** Where its JSON has the id of its session, such as `session.id`. */
  readonly sessionPath?: string | undefined;
  /** Where its JSON has what it says. */
  readonly textPath?: string | undefined;
}

/** How a program is started and read. */
export interface Recipe {
  readonly command: readonly string[];
  readonly resumeCommand: readonly string[] | undefined;
  readonly pty: boolean;
  readonly sessionPath: Path | undefined;
  readonly textPath: Path | undefined;
}

export function commandBackend(options: CommandOptions): Backend {
  const { resumeCommand, pty = false, sessionPath, textPath } = options;
  const program: Program = {
    kind: "command",
    capabilities: { ...NO_CAPABILITIES, resume: resumeCommand !== undefined },
    async start(start) {
      const { context, env } = start;
      const command = commandOf(context, resumeCommand);
      await mustRun(programOf(command), { cwd: context.cwd, env }); // told now, and not by the first turn
      const recipe = {
        command,
        resumeCommand,
        pty,
        sessionPath: sessionPath === undefined ? undefined : pathOf(sessionPath),
        textPath: textPath === undefined ? undefined : pathOf(textPath),
      };
      return commandProgram(start, recipe);
    },
  };
  return programBackend(program, options);
}

/** Throws `config_invalid` where something is to be filled in that nobody has. */
function commandOf({ agent }: BackendContext, resumeCommand: readonly string[] = []): readonly string[] {
  const { name, command = [], model } = agent;
  const names = placeholdersIn([...command, ...resumeCommand]);
  if (names.has("model") && model === undefined) {
    throw new RookeryError(
      "config_invalid",
      `the command of ${name} has {model}, and no model is set: add model = "…" under [agents.${name}]`,
    );
  }
  return command;
}
