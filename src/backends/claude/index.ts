/** The `claude-code` backend: drives Claude Code over its stream-json protocol. */
import type { Backend } from "../../domain/index.ts";
import { programBackend, type ProgramOptions } from "../program/index.ts";
import { createClaudeProgram } from "./program.ts";

export interface ClaudeOptions extends ProgramOptions {
  /** Runs the program on a pseudo-terminal. Default: false. */
  readonly pty?: boolean | undefined;
}

export function claudeBackend(options: ClaudeOptions): Backend {
  return programBackend(createClaudeProgram({ pty: options.pty === true }), options);
}
