/** What a handler is given: a message of the peer, as it came. */
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
  /** Fires when the peer cancels the request, or is gone. */
  readonly signal: AbortSignal;
  /** The next message waits until this settles. Without it a request's handler is only started in its turn. */
  hold(until: Promise<unknown>): void;
  /** Answers now, before the handler is done; what it returns or throws later counts for nothing. */
  respond(result: unknown): void;
  fail(error: unknown): void;
}

/** Something came that is nobody's message. */
export interface Noise {
  readonly kind: "not_json" | "not_a_message" | "response_to_nothing" | "too_large";
  /** Bounded. */
  readonly text: string;
  /** Of a message that was too large: how long it was. */
  readonly bytes?: number | undefined;
}

export interface ConnectionHandlers {
  /**
   * Answers with what it returns; what it throws is the error. Started in wire order, and not waited for: a prompt may
   * take an hour. Whatever must not be overtaken says so with `hold`.
   */
  request?(request: IncomingRequest): unknown;
  /** The next message waits until it settles, unless it calls the peer meanwhile. What it throws is told to `failed`. */
  notification?(notification: IncomingNotification): void | Promise<void>;
  noise?(noise: Noise): void;
  /** A notification's handler threw; nobody else would hear of it. */
  failed?(error: unknown, notification: IncomingNotification): void;
}

/** A response as it came, to be passed on as it is. */
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

/** An answer that is neither one thing nor the other is an error: whoever asked has to hear something. */
function extractError(message: { readonly error?: unknown }): RpcErrorObject | undefined {
  const { error } = message;
  if (typeof error === "object" && error !== null) return error as RpcErrorObject;
  if (typeof error === "string") return { code: RPC.internalError, message: error };
  if ("result" in message) return undefined;
  return { code: RPC.internalError, message: "the answer has neither a result nor an error", data: error };
}
