/** The `gemini-cli` backend. */
import { RookeryError, type Backend } from "../../domain/index.ts";
import type { ProgramOptions } from "../program/index.ts";

export type GeminiOptions = ProgramOptions;

export function geminiBackend(_options: GeminiOptions): Backend {
  return {
    kind: "gemini-cli",
    open: () => Promise.reject(new RookeryError("backend_unsupported", "this version does not drive gemini-cli yet")),
  };
}
