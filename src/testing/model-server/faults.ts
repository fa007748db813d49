/** The ways in which a scripted model goes wrong. */

export type Fault = StatusFault | StreamFault;

/** An HTTP error with the body that the wire's real API sends for it. */
export interface StatusFault {
  readonly kind: "status";
  readonly status: number;
  /** Seconds, or a moment, which is sent as an HTTP date. */
  readonly retryAfter?: number | Date;
  /** What the refusal is for, where the status alone does not say it: the body and the headers are the wire's own for it. */
  readonly why?: RefusalReason;
  /** For a used up account: when it may do more. Anthropic and OpenAI say it, Gemini has days. */
  readonly resetsAt?: Date;
  /** Instead of the wire's usual words. */
  readonly message?: string;
}

/** `overflow`: the conversation is too long. `quota`: the account has used up its quota. */
export type RefusalReason = "overflow" | "quota";

export interface StreamFault {
  readonly kind: StreamFaultKind;
  /** How many events are sent unharmed before the fault; half of them when left out. `reset` sends none. */
  readonly afterEvents?: number;
}

/**
 * - `reset`: the connection is closed before any byte of the answer
 * - `cut`: the connection is closed in the middle of the answer
 * - `eof`: the answer ends in the middle as if it were whole: the connection is closed in order
 * - `garbage`: bytes that are neither JSON nor UTF-8, and then the rest of the answer
 * - `error`: the wire's own error event (without streaming: its overload status), and then the end
 * - `stall`: silence until the client gives up or the server is closed
 */
export type StreamFaultKind = "reset" | "cut" | "eof" | "garbage" | "error" | "stall";

/** Half an event whose JSON never ends and whose last bytes are no UTF-8. */
export const GARBAGE: Buffer = Buffer.concat([
  Buffer.from('data: {"type":"delta","te'),
  Buffer.from([0xff, 0xfe, 0xc0]),
]);

/** What a `Retry-After` header says. */
export function retryAfterHeader(retryAfter: number | Date): string {
  return typeof retryAfter === "number" ? String(retryAfter) : retryAfter.toUTCString();
}
