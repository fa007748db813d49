/** The `command` backend: any program that takes a prompt and prints an answer. Runs one process per turn. */
import { NO_CAPABILITIES, type Backend } from "../../domain/index.ts";
import type { TaskValues } from "../../domain/task/values.ts";
import { requireRunnable, programFromCommand } from "../../programs/index.ts";
import { programBackend, type AgentProgram, type ProgramOptions } from "../program/index.ts";
import { checkPlaceholders } from "./placeholders.ts";
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
  /** The task of the session, for the placeholders about it. */
  readonly task?: TaskValues | undefined;
}

export function commandBackend(options: CommandOptions): Backend {
  const { resumeCommand, pty = false, sessionPath, textPath, task } = options;
  const program: AgentProgram = {
    kind: "command",
    capabilities: { ...NO_CAPABILITIES, resume: resumeCommand !== undefined },
    async start(start) {
      const { context, env } = start;
      const { command = [], name, model } = context.agent;
      checkPlaceholders([...command, ...(resumeCommand ?? [])], { agent: name, model, task });
      await requireRunnable(programFromCommand(command), { cwd: context.cwd, env }); // reported when the session opens, not by its first turn
      const recipe = {
        command,
        resumeCommand,
        pty,
        task,
        sessionPath: sessionPath === undefined ? undefined : parseJsonPath(sessionPath),
        textPath: textPath === undefined ? undefined : parseJsonPath(textPath),
      };
      return createCommandProgram(start, recipe);
    },
  };
  return programBackend(program, options);
}
