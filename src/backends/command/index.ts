/** The `command` backend: any program that takes a prompt and prints an answer. Runs one process per turn. */
import { NO_CAPABILITIES, RookeryError, type Backend, type BackendContext } from "../../domain/index.ts";
import { requireRunnable, programFromCommand } from "../../programs/index.ts";
import { programBackend, type AgentProgram, type ProgramOptions } from "../program/index.ts";
import { findPlaceholders } from "./placeholders.ts";
import { createCommandProgram } from "./command-program.ts";
import { parseJsonPath } from "./json-path.ts";

export interface CommandOptions extends ProgramOptions {
  /** Runs the program on a pseudo-terminal. Default: false. */
  readonly pty?: boolean | undefined;
  /** Command that resumes a session. Default: none; every turn gets the conversation so far. */
  readonly resumeCommand?: readonly string[] | undefined;
  /** Path of the session id in the program's JSON, such as `session.id`. */
  readonly sessionPath?: string | undefined;
  /** Path of the message text in the program's JSON. */
  readonly textPath?: string | undefined;
}

export function commandBackend(options: CommandOptions): Backend {
  const { resumeCommand, pty = false, sessionPath, textPath } = options;
  const program: AgentProgram = {
    kind: "command",
    capabilities: { ...NO_CAPABILITIES, resume: resumeCommand !== undefined },
    async start(start) {
      const { context, env } = start;
      const command = requireCommand(context, resumeCommand);
      await requireRunnable(programFromCommand(command), { cwd: context.cwd, env }); // reported when the session opens, not by its first turn
      const recipe = {
        command,
        resumeCommand,
        pty,
        sessionPath: sessionPath === undefined ? undefined : parseJsonPath(sessionPath),
        textPath: textPath === undefined ? undefined : parseJsonPath(textPath),
      };
      return createCommandProgram(start, recipe);
    },
  };
  return programBackend(program, options);
}

/** Throws `config_invalid` if the command uses `{model}` and no model is set. */
function requireCommand({ agent }: BackendContext, resumeCommand: readonly string[] = []): readonly string[] {
  const { name, command = [], model } = agent;
  const names = findPlaceholders([...command, ...resumeCommand]);
  if (names.has("model") && model === undefined) {
    throw new RookeryError(
      "config_invalid",
      `the command of ${name} uses {model}, but no model is set: add model = "…" under [agents.${name}]`,
    );
  }
  return command;
}
