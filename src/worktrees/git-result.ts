/** Result of a git process. */

export interface GitResult {
  /** Exit code. Null if a signal ended git. */
  readonly code: number | null;
  /** Output decoded as UTF-8. For file names, which need not be UTF-8, use `bytes`. */
  readonly stdout: string;
  readonly bytes: Buffer;
  readonly stderr: string;
  /** True if git was stopped at `truncateAt` bytes of output. */
  readonly truncated: boolean;
}
