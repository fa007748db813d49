/**
 * The `claude-code` backend: drives Claude Code over its stream-json protocol.
 *
 * How one line of its output reaches the log: `readRecords` (`programs/records.ts`) parses it, `LiveClaude` dispatches
 * the record, `ClaudeTurn` handles records of the running turn, `ClaudeRecordHandler` converts them to events, and
 * `TurnRecorder` (`backends/program/`) passes the events to the log of the turn, whose writer is the session's `Recorder`.
 */
import type { Backend } from "../../domain/index.ts";
import { programBackend, type ProgramOptions } from "../program/index.ts";
import { createClaudeProgram } from "./program.ts";

export interface ClaudeOptions extends ProgramOptions {
  /** Runs the program on a pseudo-terminal. Default: false. */
  readonly pty?: boolean | undefined;
  /** Records every JSON record that the program prints as `agent.raw`. Default: false, only unknown ones. */
  readonly raw?: boolean | undefined;
}

export function claudeBackend({ pty = false, raw = false, ...options }: ClaudeOptions): Backend {
  return programBackend(createClaudeProgram({ pty, raw }), options);
}
