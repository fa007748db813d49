/** The faults of a scripted model. */

export type Fault = StatusFault | StreamFault;

/** An HTTP error with the body of the real API. */
export interface StatusFault {
  readonly kind: "status";
  readonly status: number;
  /** Seconds, or a `Date`, which is sent as an HTTP date. */
  readonly retryAfter?: number | Date;
  /** The reason, if the status alone does not determine the body and headers of the real API. */
  readonly why?: RefusalReason;
  /** When a used-up quota resets. Anthropic and OpenAI report it; Gemini has daily quotas. */
  readonly resetsAt?: Date;
  /** Default: the message of the real API. */
  readonly message?: string;
}

/** `overflow`: the conversation is too long. `quota`: the account has used up its quota. */
export type RefusalReason = "overflow" | "quota";

export interface StreamFault {
  readonly kind: StreamFaultKind;
  /** How many events to send before the fault. Default: half of them. `reset` sends none. */
  readonly afterEvents?: number;
}

/**
 * - `reset`: closes the connection before the first byte of the answer
 * - `cut`: closes the connection in the middle of the answer
 * - `eof`: ends the response properly in the middle of the answer
 * - `garbage`: sends bytes that are neither JSON nor UTF-8, then the rest of the answer
 * - `error`: sends the wire's error event (without streaming: its overload status) and ends
 * - `stall`: sends nothing until the client gives up or the server closes
 */
export type StreamFaultKind = "reset" | "cut" | "eof" | "garbage" | "error" | "stall";

/** Half an event: incomplete JSON that ends with invalid UTF-8. */
export const GARBAGE: Buffer = Buffer.concat([
  Buffer.from('data: {"type":"delta","te'),
  Buffer.from([0xff, 0xfe, 0xc0]),
]);

/** Formats the value of a `Retry-After` header. */
export function retryAfterHeader(retryAfter: number | Date): string {
  return typeof retryAfter === "number" ? String(retryAfter) : retryAfter.toUTCString();
}
