/** One MCP connection to a server of this process: a transport to the server, requests and notifications to us. */
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import { PeerError, RPC, requestCancelled } from "../errors.ts";
import type { RpcErrorObject } from "../wire/message.ts";
import type { InProcessServer } from "./declaration.ts";

/** What the server does on its own account. */
export interface ServerLinkHandlers {
  /** What it throws is answered as the error. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** Belongs to no request that wanted its own. */
  notification(method: string, params: unknown): void;
  /** Called once, whoever closed it. */
  closed(): void;
}

/** What the server answered. */
export type McpOutcome = { readonly result: unknown } | { readonly error: RpcErrorObject };

export interface ServerLinkRequestOptions {
  /** Told to the server; the request fails at once, because a server does not answer what was cancelled. */
  readonly signal?: AbortSignal | undefined;
  /** Takes the notifications that the server sends for this request. */
  readonly notified?: ((method: string, params: unknown) => void) | undefined;
}

interface PendingServerRequest {
  readonly resolve: (outcome: McpOutcome) => void;
  readonly reject: (error: Error) => void;
  readonly notified: ServerLinkRequestOptions["notified"];
}

/** The server ended the connection, or it was ended under the request. */
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
  readonly #asked = new Map<unknown, AbortController>();
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

  /** Asks the server. Rejects with `LinkClosed`, or with the error of a cancelled request. */
  request(method: string, params: unknown, { signal, notified }: ServerLinkRequestOptions = {}): Promise<McpOutcome> {
    if (this.#closed) return Promise.reject(new ServerLinkClosed(this.#name));
    if (signal?.aborted === true) return Promise.reject(requestCancelled());
    // A text that no client counts to: one that cancels by its own number must not hit a stranger's request.
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

  /** For the server. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  /** For the server: what it sends. */
  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#closed) return Promise.reject(new ServerLinkClosed(this.#name));
    if (!("method" in message)) this.#answered(message);
    else if ("id" in message) void this.#ask(message);
    else this.#told(message.method, message.params, options?.relatedRequestId);
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#closed = true;
    for (const controller of this.#asked.values()) controller.abort(new ServerLinkClosed(this.#name));
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

  #answered(message: Exclude<JSONRPCMessage, { method: string }>): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    this.#pending.delete(message.id);
    pending.resolve("error" in message ? { error: message.error } : { result: message.result });
  }

  #told(method: string, params: unknown, relatedTo: unknown): void {
    if (method === "notifications/cancelled") {
      const asked = this.#asked.get((params as { requestId?: unknown } | undefined)?.requestId);
      return asked?.abort(requestCancelled());
    }
    const notified = this.#pending.get(relatedTo)?.notified;
    if (notified !== undefined) notified(method, params);
    else this.#handlers.notification(method, params);
  }

  async #ask({ id, method, params }: JSONRPCRequest): Promise<void> {
    const controller = new AbortController();
    this.#asked.set(id, controller);
    let answer: JSONRPCMessage;
    try {
      const result = await this.#handlers.request(method, params, controller.signal);
      answer = { jsonrpc: "2.0", id, result: (result ?? {}) as Record<string, unknown> };
    } catch (error) {
      answer = { jsonrpc: "2.0", id, error: toMcpError(error) };
    }
    this.#asked.delete(id);
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
