/**
 * The messages between a program's worker thread and the main thread. They carry only text, so nothing else can cross.
 */
import type { CodeLimits } from "./code-limits.ts";

/** The `workerData` of the thread. */
export interface ProgramData {
  readonly quickjs: WebAssembly.Module;
  readonly code: string;
  /** Seeds `Math.random`. */
  readonly seed: string;
  readonly names: readonly string[];
  readonly limits: CodeLimits;
}

/** A message from the program's thread. */
export type ProgramMessage =
  /** The runtime is loaded, and the program starts. */
  | { readonly type: "began" }
  | { readonly type: "printed"; readonly text: string }
  /** Numbered from 0 in the order of the calls. */
  | { readonly type: "called"; readonly id: number; readonly name: string; readonly input: string }
  /** The program waits for a result. */
  | { readonly type: "idle" }
  /** `unprinted` counts the characters that were printed past the limit. */
  | { readonly type: "ended"; readonly ending: ProgramEnd; readonly unprinted: number };

/** A message to the program's thread: the result of a call, always in the order of the calls. */
export interface CallResultMessage {
  readonly id: number;
  readonly result: string;
}

export type ProgramEnd =
  /** With its value as JSON, if any. `more` counts the characters past the limit. */
  | { readonly kind: "returned"; readonly value?: string | undefined; readonly more?: number | undefined }
  /** It threw, could not be parsed, or exceeded a limit. */
  | { readonly kind: "failed"; readonly message: string };
