/** The `opencode` backend. */
import { RookeryError, type Backend } from "../../domain/index.ts";
import type { ProgramOptions } from "../program/index.ts";

export type OpencodeOptions = ProgramOptions;

export function opencodeBackend(_options: OpencodeOptions): Backend {
  return {
    kind: "opencode",
    open: () => Promise.reject(new RookeryError("backend_unsupported", "this version does not drive opencode yet")),
  };
}
