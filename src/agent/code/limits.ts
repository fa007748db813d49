/** How much one program may use. */

export interface CodeLimits {
  /** Of computing; waiting for tools does not count. */
  readonly timeMs: number;
  /** From its beginning to its end, but for its calls: each of those has the time of its tool, and waits for people. */
  readonly totalMs: number;
  readonly memoryBytes: number;
  /** Calls of tools. */
  readonly calls: number;
  /** Characters that it prints, and as many again that it returns. */
  readonly output: number;
}

const MEGABYTE = 1024 * 1024;

export const CODE_LIMITS: CodeLimits = {
  timeMs: 10_000,
  totalMs: 30 * 60_000,
  memoryBytes: 64 * MEGABYTE,
  calls: 200,
  output: 20_000,
};

/** Of the program's own text. */
export const MOST_SOURCE = 100_000;
/** Of what one call is given, and of what one call gives back to the program, as JSON. */
export const MOST_CALL_CHARACTERS = 4_000_000;
