/** The `claude-code` backend: Claude Code's own program, spoken to both ways in stream-json. */
import type { Backend } from "../../domain/index.ts";
import { programBackend, type ProgramOptions } from "../program/index.ts";
import { claudeProgram } from "./program.ts";

export interface ClaudeOptions extends ProgramOptions {
  /** Its program gets a terminal. */
  readonly pty?: boolean | undefined;
}

export function claudeBackend(options: ClaudeOptions): Backend {
  return programBackend(claudeProgram({ pty: options.pty === true }), options);
}
