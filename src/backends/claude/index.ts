/** The `claude-code` backend. */
import { RookeryError, type Backend } from "../../domain/index.ts";
import type { ProgramOptions } from "../program/index.ts";

export interface ClaudeOptions extends ProgramOptions {
  /** Its program gets a terminal. */
  readonly pty?: boolean | undefined;
}

export function claudeBackend(_options: ClaudeOptions): Backend {
  return {
    kind: "claude-code",
    open: () => Promise.reject(new RookeryError("backend_unsupported", "this version does not drive claude-code yet")),
  };
}
