/** The `command` backend. */
import { RookeryError, type Backend } from "../../domain/index.ts";
import type { ProgramOptions } from "../program/index.ts";

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

export function commandBackend(_options: CommandOptions): Backend {
  return {
    kind: "command",
    open: () => Promise.reject(new RookeryError("backend_unsupported", "this version does not drive command yet")),
  };
}
