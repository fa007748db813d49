/** Tells whether a question can be asked with single keys, without loading what draws it. */
import type { ReadStream } from "node:tty";
import { hasColor, type Io } from "../io.ts";

export interface QuestionTerminal {
  readonly io: Io;
  /** Called with a function that prints output above the question while it is open, and then with undefined. */
  readonly onOpen?: ((printAbove: PrintAbove | undefined) => void) | undefined;
}

/** Takes text as it would be written to stdout, including parts of lines. */
export type PrintAbove = (text: string) => void;

/** True if single keys can be read and lines can be redrawn. The chat has the same condition. */
export function canAskWithKeys({ env, stderr, terminalInput }: Io): boolean {
  const input = terminalInput as Partial<ReadStream> | undefined;
  return hasColor({ env, stdout: stderr }) && typeof input?.setRawMode === "function";
}

/** The person pressed Ctrl-C, or Esc at a permission question. The process gets the signal that Ctrl-C sends. */
export class InterruptedQuestion extends Error {}
