/** Sends and answers the control requests of Claude Code's stream-json protocol. */
import { RookeryError } from "../../domain/index.ts";
import type { JsonRecord, Transport } from "../../programs/index.ts";
import { deferred, type Deferred } from "../../stdx/index.ts";
import { recordAt, textAt } from "./record-fields.ts";

/** A program that leaves so many requests unanswered is considered hung. */
const MAX_PENDING_REQUESTS = 1_000;

export class ControlChannel {
  readonly #transport: Pick<Transport, "write">;
  readonly #pending = new Map<string, Deferred<JsonRecord>>();
  #count = 0;
  #closeError: Error | undefined;

  constructor(transport: Pick<Transport, "write">) {
    this.#transport = transport;
  }

  /** Rejects with the program's error, with the signal's reason, or when the program has exited. */
  async request(request: JsonRecord, signal?: AbortSignal): Promise<JsonRecord> {
    signal?.throwIfAborted();
    if (this.#closeError !== undefined) throw this.#closeError;
    if (this.#pending.size >= MAX_PENDING_REQUESTS)
      throw new RookeryError("agent_failed", "Claude Code does not answer control requests");
    const id = `rookery-${(this.#count += 1)}`;
    const answer = deferred<JsonRecord>();
    const abort = () => answer.reject(signal?.reason);
    this.#pending.set(id, answer);
    signal?.addEventListener("abort", abort);
    try {
      this.write({ type: "control_request", request_id: id, request });
      return await answer.promise;
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#pending.delete(id);
    }
  }

  respond(requestId: string, response: JsonRecord): void {
    this.write({ type: "control_response", response: { subtype: "success", request_id: requestId, response } });
  }

  refuse(requestId: string, error: string): void {
    this.write({ type: "control_response", response: { subtype: "error", request_id: requestId, error } });
  }

  /** Settles the request that the response belongs to. */
  handleResponse(record: JsonRecord): void {
    const response = recordAt(record, "response");
    const pending = this.#pending.get(textAt(response, "request_id") ?? "");
    if (textAt(response, "subtype") !== "error") return pending?.resolve(recordAt(response, "response") ?? {});
    pending?.reject(new RookeryError("agent_failed", textAt(response, "error") ?? "Claude Code refused a request"));
  }

  close(error: Error): void {
    this.#closeError ??= error;
    for (const pending of this.#pending.values()) pending.reject(error);
  }

  write(record: JsonRecord): void {
    if (this.#closeError === undefined) this.#transport.write(`${JSON.stringify(record)}\n`);
  }
}
