/** The messages that a handler gets, as they came from the peer. */
import { RPC } from "../errors.ts";
import type { RequestId, RpcErrorObject } from "../wire/message.ts";

export interface IncomingNotification {
  readonly method: string;
  readonly params: unknown;
  /** The text of the whole message. */
  readonly line: string;
}

export interface IncomingRequest extends IncomingNotification {
  readonly id: RequestId;
  /** Fires when the peer cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** Blocks the next message until the promise settles. Without it, handlers of requests are only started in order. */
  hold(until: Promise<unknown>): void;
  /** Answers before the handler returns; its later result or error is ignored. */
  respond(result: unknown): void;
  fail(error: unknown): void;
}

/** Input that is not a message of the protocol. */
export interface Noise {
  readonly kind: "not_json" | "not_a_message" | "response_to_nothing" | "too_large";
  /** At most 2,000 characters. */
  readonly text: string;
  /** Length of a message that was too large. */
  readonly bytes?: number | undefined;
}

export interface ConnectionHandlers {
  /**
   * The return value is the answer; a thrown error becomes an error response. Handlers are started in wire order and
   * not awaited, because a prompt may take an hour. Use `hold` if later messages must wait.
   */
  request?(request: IncomingRequest): unknown;
  /** The next message waits until it settles, unless it calls the peer meanwhile. `failed` gets what it throws. */
  notification?(notification: IncomingNotification): void | Promise<void>;
  noise?(noise: Noise): void;
  /** Called if a notification handler throws; otherwise the error would be lost. */
  failed?(error: unknown, notification: IncomingNotification): void;
}

/** A response as it came, so that it can be passed on unchanged. */
export class Verbatim {
  readonly line: string;
  readonly result: unknown;
  readonly error: RpcErrorObject | undefined;

  constructor(line: string, message: { readonly result?: unknown; readonly error?: unknown }) {
    this.line = line;
    this.result = message.result;
    this.error = extractError(message);
  }
}

/** A response with neither a result nor an error counts as an error, so that the caller gets an answer. */
function extractError(message: { readonly error?: unknown }): RpcErrorObject | undefined {
  const { error } = message;
  if (typeof error === "object" && error !== null) return error as RpcErrorObject;
  if (typeof error === "string") return { code: RPC.internalError, message: error };
  if ("result" in message) return undefined;
  return { code: RPC.internalError, message: "the answer has neither a result nor an error", data: error };
}
