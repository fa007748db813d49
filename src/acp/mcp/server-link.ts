/**
 * One MCP connection to a server in this process: a transport for the server, requests and notifications for the
 * caller.
 */
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import { PeerError, RPC, requestCancelled } from "../errors.ts";
import type { RpcErrorObject } from "../wire/message.ts";
import type { InProcessServer } from "./declaration.ts";

/** Messages that the server sends by itself. */
export interface ServerLinkHandlers {
  /** A thrown error becomes the answer. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** Called unless the request that the notification belongs to has its own `notified`. */
  notification(method: string, params: unknown): void;
  /** Called once, no matter which side closed the connection. */
  closed(): void;
}

/** The server's answer. */
export type McpOutcome = { readonly result: unknown } | { readonly error: RpcErrorObject };

export interface ServerLinkRequestOptions {
  /**
   * Aborting it cancels the request at the server. The promise rejects at once, because a server does not answer a
   * cancelled request.
   */
  readonly signal?: AbortSignal | undefined;
  /** Receives the server's notifications for this request. */
  readonly notified?: ((method: string, params: unknown) => void) | undefined;
}

interface PendingServerRequest {
  readonly resolve: (outcome: McpOutcome) => void;
  readonly reject: (error: Error) => void;
  readonly notified: ServerLinkRequestOptions["notified"];
}

/** The connection to the server was closed. */
export class ServerLinkClosed extends Error {
  constructor(server: string) {
    super(`the connection to the MCP server ${server} was closed`);
    this.name = "LinkClosed";
  }
}

export class ServerLink implements Transport {
  onmessage: Transport["onmessage"];
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  readonly #name: string;
  readonly #handlers: ServerLinkHandlers;
  readonly #pending = new Map<unknown, PendingServerRequest>();
  readonly #serverRequests = new Map<unknown, AbortController>();
  #count = 0;
  #closed = false;

  private constructor(name: string, handlers: ServerLinkHandlers) {
    this.#name = name;
    this.#handlers = handlers;
  }

  static async open(server: InProcessServer, handlers: ServerLinkHandlers): Promise<ServerLink> {
    const link = new ServerLink(server.name, handlers);
    await (await server.open()).connect(link);
    return link;
  }

  /** Sends a request to the server. Rejects with `ServerLinkClosed`, or with -32800 if the signal fires. */
  request(method: string, params: unknown, { signal, notified }: ServerLinkRequestOptions = {}): Promise<McpOutcome> {
    if (this.#closed) return Promise.reject(new ServerLinkClosed(this.#name));
    if (signal?.aborted === true) return Promise.reject(requestCancelled());
    // A string that no client uses as an id, so that a client that cancels by number cannot hit another request.
    const id = `link-${(this.#count += 1)}`;
    return new Promise<McpOutcome>((resolve, reject) => {
      const cancel = (): void => {
        if (!this.#pending.delete(id)) return;
        this.notify("notifications/cancelled", { requestId: id });
        reject(requestCancelled());
      };
      signal?.addEventListener("abort", cancel, { once: true });
      const settled = (): void => signal?.removeEventListener("abort", cancel);
      this.#pending.set(id, {
        resolve: (outcome) => (settled(), resolve(outcome)),
        reject: (error) => (settled(), reject(error)),
        notified,
      });
      this.#deliver({ jsonrpc: "2.0", id, method, ...toParamsField(params) });
    });
  }

  notify(method: string, params: unknown): void {
    if (!this.#closed) this.#deliver({ jsonrpc: "2.0", method, ...toParamsField(params) });
  }

  /** Called by the server. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Called by the server to send a message. */
  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#closed) return Promise.reject(new ServerLinkClosed(this.#name));
    if (!("method" in message)) this.#handleResponse(message);
    else if ("id" in message) void this.#handleServerRequest(message);
    else this.#handleNotification(message.method, message.params, options?.relatedRequestId);
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#closed = true;
    for (const controller of this.#serverRequests.values()) controller.abort(new ServerLinkClosed(this.#name));
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(new ServerLinkClosed(this.#name));
    this.onclose?.();
    this.#handlers.closed();
    return Promise.resolve();
  }

  #deliver(message: JSONRPCMessage): void {
    this.onmessage?.(message);
  }

  #handleResponse(message: Exclude<JSONRPCMessage, { method: string }>): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    this.#pending.delete(message.id);
    pending.resolve("error" in message ? { error: message.error } : { result: message.result });
  }

  #handleNotification(method: string, params: unknown, relatedTo: unknown): void {
    if (method === "notifications/cancelled") {
      const controller = this.#serverRequests.get((params as { requestId?: unknown } | undefined)?.requestId);
      return controller?.abort(requestCancelled());
    }
    const notified = this.#pending.get(relatedTo)?.notified;
    if (notified !== undefined) notified(method, params);
    else this.#handlers.notification(method, params);
  }

  async #handleServerRequest({ id, method, params }: JSONRPCRequest): Promise<void> {
    const controller = new AbortController();
    this.#serverRequests.set(id, controller);
    let answer: JSONRPCMessage;
    try {
      const result = await this.#handlers.request(method, params, controller.signal);
      answer = { jsonrpc: "2.0", id, result: (result ?? {}) as Record<string, unknown> };
    } catch (error) {
      answer = { jsonrpc: "2.0", id, error: toMcpError(error) };
    }
    this.#serverRequests.delete(id);
    if (!this.#closed && !controller.signal.aborted) this.#deliver(answer);
  }
}

/** Leaves `params` out if there are none. */
export function toParamsField(params: unknown): { params?: Record<string, unknown> } {
  return params === undefined || params === null ? {} : { params: params as Record<string, unknown> };
}

/** Keeps the error of a `PeerError`; any other error becomes an internal error. */
export function toMcpError(error: unknown): RpcErrorObject {
  if (error instanceof PeerError) return error.raw;
  return { code: RPC.internalError, message: error instanceof Error ? error.message : String(error) };
}
