/** The peer's open requests. Each is answered once and can be cancelled until then. */
import { deferred, type Deferred } from "../../stdx/index.ts";
import { isRookeryError } from "../../domain/errors.ts";
import { ConnectionClosed, PeerError, RPC, requestCancelled } from "../errors.ts";
import { replaceValue } from "../wire/scan.ts";
import type { RpcErrorObject } from "../wire/message.ts";
import { Verbatim } from "./incoming.ts";

interface OpenRequest {
  readonly controller: AbortController;
  /** The id as it was written. */
  readonly id: string;
}

export class IncomingRequests {
  readonly #send: (line: string) => void;
  readonly #requests = new Map<string, OpenRequest>();
  /** Requests that were cancelled while queued. */
  readonly #cancelled = new Set<string>();
  #idle: Deferred<void> | undefined;

  constructor(send: (line: string) => void) {
    this.#send = send;
  }

  /** Undefined if the id is in use; the request is then refused here. */
  begin(id: string): OpenRequest | undefined {
    if (this.#requests.has(id)) {
      this.#send(
        formatErrorLine(id, {
          code: RPC.invalidRequest,
          message: `a request with the id ${id} is already in progress`,
        }),
      );
      return undefined;
    }
    const request = { controller: new AbortController(), id };
    this.#requests.set(id, request);
    if (this.#cancelled.delete(id)) request.controller.abort(requestCancelled());
    return request;
  }

  /** Answers with the result. A result that cannot be serialized becomes an error. */
  respond(request: OpenRequest, result: unknown): void {
    if (result instanceof Verbatim) {
      this.#answer(request, replaceValue(result.line, "id", request.id) ?? result.line);
      return;
    }
    try {
      this.#answer(request, `{"jsonrpc":"2.0","id":${request.id},"result":${toJsonText(result)}}`);
    } catch (error) {
      this.fail(request, error);
    }
  }

  fail(request: OpenRequest, error: unknown): void {
    this.#answer(request, formatFailureLine(request, error));
  }

  /** `waits` returns true if a request with this id is queued but not started. */
  cancel(id: string, waits: () => boolean): void {
    const request = this.#requests.get(id);
    if (request !== undefined) request.controller.abort(requestCancelled());
    else if (waits()) this.#cancelled.add(id);
  }

  abortAll(reason: Error): void {
    for (const { controller } of this.#requests.values()) controller.abort(reason);
  }

  /** Answers everything that is still open, without waiting for the handlers. */
  failAll(error: RpcErrorObject): void {
    for (const request of [...this.#requests.values()]) this.fail(request, new PeerError(error));
  }

  /** Resolves when no request is open. */
  idle(): Promise<void> {
    if (this.#requests.size === 0) return Promise.resolve();
    this.#idle ??= deferred();
    return this.#idle.promise;
  }

  #answer(request: OpenRequest, line: string): void {
    if (this.#requests.get(request.id) !== request) return; // it was answered when the connection closed
    this.#requests.delete(request.id);
    this.#send(line);
    if (this.#requests.size > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}

export function formatErrorLine(id: string, error: RpcErrorObject): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${toJsonText(error)}}`;
}

function formatFailureLine({ id, controller }: OpenRequest, error: unknown): string {
  try {
    return formatErrorLine(id, toErrorObject(error, controller.signal));
  } catch {
    return formatErrorLine(id, {
      code: RPC.internalError,
      message: "the request failed with an error that cannot be serialized",
    });
  }
}

function toErrorObject(error: unknown, signal: AbortSignal): RpcErrorObject {
  if (error instanceof PeerError) return error.raw;
  if (error instanceof ConnectionClosed) return toLostPeerError(error);
  if (signal.aborted) return requestCancelled().raw;
  if (isRookeryError(error)) return { code: RPC.internalError, message: error.message, data: { code: error.code } };
  return { code: RPC.internalError, message: error instanceof Error ? error.message : String(error) };
}

/** Tells the caller how a peer further down the chain ended. */
function toLostPeerError({ message, end, exit }: ConnectionClosed): RpcErrorObject {
  return { code: RPC.internalError, message, data: { end, ...exit } };
}

/** Serialized inside a list, where a value without a JSON form (undefined, a function) becomes null. */
function toJsonText(value: unknown): string {
  return JSON.stringify([value]).slice(1, -1);
}
