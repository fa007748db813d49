/** The other side as the agent sees it: requests to it, and its responses to them. */

import { deferred, type Deferred } from "../../stdx/index.ts";
import { objectOr } from "./rpc.ts";
import type { JsonObject, RpcError, Script } from "./script.ts";
import type { Output } from "./wire.ts";

export type Reply = { readonly result: unknown } | { readonly error: RpcError };

export class Client {
  /** As it said in `initialize`; nothing before that. */
  capabilities: JsonObject = {};
  readonly #output: Output;
  readonly #ids: Script["ids"];
  readonly #pending = new Map<unknown, Deferred<Reply>>();
  #requests = 0;

  constructor(output: Output, ids: Script["ids"]) {
    this.#output = output;
    this.#ids = ids;
  }

  /** Whether it said that it can do what this path of capabilities names. */
  offers(...path: readonly string[]): boolean {
    const found = path.reduce<unknown>((inside, name) => objectOr(inside)[name], this.capabilities);
    return found !== undefined && found !== null && found !== false;
  }

  notify(method: string, params: unknown): Promise<void> {
    return this.#output.send({ jsonrpc: "2.0", method, params });
  }

  /** Aborting tells the client with `$/cancel_request` and waits no longer; a response that comes later is no surprise. */
  async request(method: string, params: unknown, signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    const number = ++this.#requests;
    const id = this.#ids === "string" ? `agent-${number}` : number;
    const reply = deferred<Reply>();
    this.#pending.set(id, reply);
    const abandoned = deferred<never>();
    abandoned.promise.catch(() => undefined); // it may be abandoned while it is still being written
    const abandon = (): void => {
      void this.notify("$/cancel_request", { requestId: id });
      abandoned.reject(signal.reason);
    };
    signal.addEventListener("abort", abandon);
    try {
      await this.#output.send({ jsonrpc: "2.0", id, method, params });
      return await Promise.race([reply.promise, abandoned.promise]);
    } finally {
      signal.removeEventListener("abort", abandon);
    }
  }

  /** False when nothing with this id was asked. */
  settle(id: unknown, reply: Reply): boolean {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.resolve(reply);
    return pending !== undefined;
  }
}
