/** The `codex` backend. */
import { RookeryError, type Backend } from "../../domain/index.ts";
import type { ProgramOptions } from "../program/index.ts";

export type CodexOptions = ProgramOptions;

export function codexBackend(_options: CodexOptions): Backend {
  return {
    kind: "codex",
    open: () => Promise.reject(new RookeryError("backend_unsupported", "this version does not drive codex yet")),
  };
}
