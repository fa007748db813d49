/** The limits of one program. */

export interface CodeLimits {
  /** CPU time. Waiting for tools does not count. */
  readonly timeMs: number;
  /** Time from start to end, without the calls. Each call has its tool's own timeout, and may wait for a person. */
  readonly totalMs: number;
  readonly memoryBytes: number;
  /** Maximum number of tool calls. */
  readonly calls: number;
  /** Maximum number of characters that it prints, and again as many for its return value. */
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

/** Maximum length of a program's source. */
export const MAX_SOURCE_LENGTH = 100_000;
/** Maximum length of a call's arguments and of its result, as JSON. */
export const MAX_CALL_LENGTH = 4_000_000;
