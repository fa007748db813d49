/** The connected client, as the agent sees it: sends requests to it and matches the responses. */

import { deferred, type Deferred } from "../../stdx/index.ts";
import { toObject, type JsonObject, type RpcOutcome } from "./rpc.ts";
import type { AcpScript } from "./script.ts";
import type { OrderedOutput } from "./streams.ts";

export class ClientHandle {
  /** The capabilities from `initialize`. Empty before that. */
  capabilities: JsonObject = {};
  readonly #output: OrderedOutput;
  readonly #ids: AcpScript["ids"];
  readonly #pending = new Map<unknown, Deferred<RpcOutcome>>();
  #requests = 0;

  constructor(output: OrderedOutput, ids: AcpScript["ids"]) {
    this.#output = output;
    this.#ids = ids;
  }

  /** True if the client has the capability at this path. */
  supports(...path: readonly string[]): boolean {
    const found = path.reduce<unknown>((inside, name) => toObject(inside)[name], this.capabilities);
    return found !== undefined && found !== null && found !== false;
  }

  notify(method: string, params: unknown): Promise<void> {
    return this.#output.send({ jsonrpc: "2.0", method, params });
  }

  /** On abort, sends `$/cancel_request` and rejects with the signal's reason. A late response is ignored. */
  async request(method: string, params: unknown, signal: AbortSignal): Promise<RpcOutcome> {
    signal.throwIfAborted();
    const number = ++this.#requests;
    const id = this.#ids === "string" ? `agent-${number}` : number;
    const reply = deferred<RpcOutcome>();
    this.#pending.set(id, reply);
    const abandoned = deferred<never>();
    abandoned.promise.catch(() => undefined); // the signal may abort while the request is being written
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

  /** Returns false if there is no request with this id. */
  settle(id: unknown, reply: RpcOutcome): boolean {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.resolve(reply);
    return pending !== undefined;
  }
}
