/** The peer's requests that are being handled: each is answered once, and can be cancelled until then. */
import { deferred, type Deferred } from "../../stdx/index.ts";
import { ConnectionClosed, PeerError, RPC, requestCancelled } from "../errors.ts";
import { replaceValue } from "../wire/scan.ts";
import type { RpcErrorObject } from "../wire/message.ts";
import { Verbatim } from "./incoming.ts";

interface OpenRequest {
  readonly controller: AbortController;
  /** As it was written. */
  readonly id: string;
}

export class IncomingRequests {
  readonly #send: (line: string) => void;
  readonly #requests = new Map<string, OpenRequest>();
  /** Cancelled before their turn came. */
  readonly #cancelled = new Set<string>();
  #idle: Deferred<void> | undefined;

  constructor(send: (line: string) => void) {
    this.#send = send;
  }

  /** Undefined where the id is in use, which is answered here. */
  begin(id: string): OpenRequest | undefined {
    if (this.#requests.has(id)) {
      this.#send(
        formatErrorLine(id, { code: RPC.invalidRequest, message: `a request with the id ${id} is in hand already` }),
      );
      return undefined;
    }
    const request = { controller: new AbortController(), id };
    this.#requests.set(id, request);
    if (this.#cancelled.delete(id)) request.controller.abort(requestCancelled());
    return request;
  }

  /** Answers with the result; one that is no JSON is an error. */
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

  /** `waits` says whether a request of that id has come and not been started. */
  cancel(id: string, waits: () => boolean): void {
    const request = this.#requests.get(id);
    if (request !== undefined) request.controller.abort(requestCancelled());
    else if (waits()) this.#cancelled.add(id);
  }

  abortAll(reason: Error): void {
    for (const { controller } of this.#requests.values()) controller.abort(reason);
  }

  /** Answers everything that is left: nobody will wait for the handlers. */
  failAll(error: RpcErrorObject): void {
    for (const request of [...this.#requests.values()]) this.fail(request, new PeerError(error));
  }

  /** Resolves when nothing is in hand. */
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
      message: "the request failed with an error that is no JSON",
    });
  }
}

function toErrorObject(error: unknown, signal: AbortSignal): RpcErrorObject {
  if (error instanceof PeerError) return error.raw;
  if (error instanceof ConnectionClosed) return toLostPeerError(error);
  if (signal.aborted) return requestCancelled().raw;
  return { code: RPC.internalError, message: error instanceof Error ? error.message : String(error) };
}

/** Someone further on is gone: whoever asked is told how. */
function toLostPeerError({ message, end, exit }: ConnectionClosed): RpcErrorObject {
  return { code: RPC.internalError, message, data: { end, ...exit } };
}

/** In a list, because there what has no JSON (nothing, a function) is null. */
function toJsonText(value: unknown): string {
  return JSON.stringify([value]).slice(1, -1);
}
