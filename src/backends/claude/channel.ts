/** Sends and answers the control requests of Claude Code's stream-json protocol. */
import { RookeryError } from "../../domain/index.ts";
import type { JsonRecord, Transport } from "../../programs/index.ts";
import { deferred, type Deferred } from "../../stdx/index.ts";
import { recordAt, textAt } from "./reading.ts";

/** A program that leaves so many requests unanswered is considered hung. */
const PENDING_LIMIT = 1_000;

export class Channel {
  readonly #transport: Pick<Transport, "write">;
  readonly #pending = new Map<string, Deferred<JsonRecord>>();
  #count = 0;
  #over: Error | undefined;

  constructor(transport: Pick<Transport, "write">) {
    this.#transport = transport;
  }

  /** Rejects with the program's error, with the signal's reason, or when the program has exited. */
  async request(request: JsonRecord, signal?: AbortSignal): Promise<JsonRecord> {
    signal?.throwIfAborted();
    if (this.#over !== undefined) throw this.#over;
    if (this.#pending.size >= PENDING_LIMIT)
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
  answered(record: JsonRecord): void {
    const response = recordAt(record, "response");
    const pending = this.#pending.get(textAt(response, "request_id") ?? "");
    if (textAt(response, "subtype") !== "error") return pending?.resolve(recordAt(response, "response") ?? {});
    pending?.reject(new RookeryError("agent_failed", textAt(response, "error") ?? "Claude Code refused a request"));
  }

  close(error: Error): void {
    this.#over ??= error;
    for (const pending of this.#pending.values()) pending.reject(error);
  }

  write(record: JsonRecord): void {
    if (this.#over === undefined) this.#transport.write(`${JSON.stringify(record)}\n`);
  }
}
