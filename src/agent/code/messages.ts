/** What the thread of a program and the one that started it say to each other: texts only, so that nothing else can pass. */
import type { CodeLimits } from "./limits.ts";

/** What the thread is started with. */
export interface ProgramData {
  readonly quickjs: WebAssembly.Module;
  readonly code: string;
  /** What chance is made of. */
  readonly seed: string;
  readonly names: readonly string[];
  readonly limits: CodeLimits;
}

/** From the program's thread. */
export type FromProgram =
  /** The runtime is loaded; the program begins. */
  | { readonly type: "began" }
  | { readonly type: "printed"; readonly text: string }
  /** Numbered from 0, in the order in which the program made them. */
  | { readonly type: "called"; readonly id: number; readonly name: string; readonly input: string }
  /** It has nothing to do until a result comes. */
  | { readonly type: "idle" }
  /** With how many characters were printed past the limit. */
  | { readonly type: "ended"; readonly ending: Ending; readonly unprinted: number };

/** To it: what came of a call, always in the order of the calls. */
export interface ToProgram {
  readonly id: number;
  readonly result: string;
}

export type Ending =
  /** With its value as JSON, if it has one. */
  | { readonly kind: "returned"; readonly value?: string | undefined; readonly more?: number | undefined }
  /** Threw, or could not be read, or met a limit: in words. */
  | { readonly kind: "failed"; readonly words: string };
