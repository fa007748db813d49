/** JSON-RPC connection to `codex app-server`: one message per line, without the `jsonrpc` field (0.166.0). */
import { z } from "zod";
import { RookeryError } from "../../domain/index.ts";
import { harmless, readRecords, type AgentProcess, type JsonRecord, type ProgramExit } from "../../programs/index.ts";
import { deferred, type Deferred } from "../../stdx/index.ts";

export interface Peer {
  notified(method: string, params: unknown): void;
  /** Answers a request. Throws `NotServed` for an unsupported method. */
  requested(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  printed(text: string): void;
  dropped(what: string): void;
  /** The output has ended. */
  ended(): void;
}

/** An error response of the program. */
export class Refused extends Error {
  override readonly name = "Refused";
}

export class NotServed extends Error {
  override readonly name = "NotServed";
}

const Id = z.union([z.string(), z.number()]);
const METHOD_NOT_FOUND = -32601;
const INTERNAL = -32603;
/** Open requests of the program; further ones are refused. */
const MOST_ASKED = 1_000;

export class Rpc {
  readonly #process: AgentProcess;
  readonly #peer: Peer;
  readonly #waiting = new Map<number, Deferred<unknown>>();
  readonly #asked = new Map<string | number, AbortController>();
  #count = 0;
  #over = false;

  constructor(process: AgentProcess, peer: Peer) {
    this.#process = process;
    this.#peer = peer;
    process.transport.start(
      readRecords({
        record: (record) => this.#heard(record),
        text: (text) => peer.printed(text),
        dropped: (what) => peer.dropped(what),
        ended: () => this.#end(),
        writeFailed: () => this.#end(),
      }),
    );
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Rejects with `Refused`, `agent_failed`, `agent_exited` when the program exits, or the signal's reason. */
  async request<Schema extends z.ZodType>(
    method: string,
    params: object,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.infer<Schema>> {
    signal?.throwIfAborted();
    if (this.#over) throw await this.exited();
    const id = (this.#count += 1);
    const answer = deferred<unknown>();
    this.#waiting.set(id, answer);
    const give = () => answer.reject(signal?.reason);
    signal?.addEventListener("abort", give, { once: true });
    try {
      this.#write({ id, method, params });
      const parsed = schema.safeParse(await answer.promise);
      if (parsed.success) return parsed.data;
      throw new RookeryError("agent_failed", `codex sent an invalid response to ${method}`, {
        cause: parsed.error,
      });
    } finally {
      signal?.removeEventListener("abort", give);
      this.#waiting.delete(id);
    }
  }

  notify(method: string): void {
    this.#write({ method });
  }

  /** The request was answered elsewhere; nobody needs to answer it any longer. */
  resolved(id: string | number): void {
    this.#asked.get(id)?.abort(new Error("codex withdrew the request"));
  }

  async exited(): Promise<RookeryError> {
    return new RookeryError("agent_exited", exitWords(await this.#process.exit()));
  }

  #heard(record: JsonRecord): void {
    const { id, method, params, error } = record;
    const known = Id.safeParse(id);
    if (typeof method === "string") {
      if (known.success) this.#serve(known.data, method, params);
      else this.#peer.notified(method, params);
    } else if (typeof id === "number" && this.#waiting.has(id)) {
      if (error === undefined || error === null) this.#waiting.get(id)?.resolve(record["result"]);
      else this.#waiting.get(id)?.reject(new Refused(wordsOf(error)));
    } else this.#peer.printed(harmless(JSON.stringify(record)).slice(0, 2_000)); // JSON that is not a message
  }

  #serve(id: string | number, method: string, params: unknown): void {
    if (this.#asked.size >= MOST_ASKED) {
      this.#write({ id, error: { code: INTERNAL, message: "too many open requests" } });
      return;
    }
    const asking = new AbortController();
    this.#asked.set(id, asking);
    void this.#peer
      .requested(method, params, asking.signal)
      .then(
        (result) => this.#write({ id, result }),
        (error: unknown) => this.#write({ id, error: refusalOf(error) }),
      )
      .finally(() => this.#asked.delete(id));
  }

  #write(message: object): void {
    if (!this.#over) this.#process.transport.write(`${JSON.stringify(message)}\n`);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    void this.#process.close().catch(() => undefined); // a process that survives is found later by its marker
    for (const asking of this.#asked.values()) asking.abort(new Error("codex exited"));
    void this.exited().then((error) => {
      for (const waiting of this.#waiting.values()) waiting.reject(error);
    });
    this.#peer.ended();
  }
}

function refusalOf(error: unknown): { code: number; message: string } {
  const isUnknown = error instanceof NotServed;
  return {
    code: isUnknown ? METHOD_NOT_FOUND : INTERNAL,
    message: error instanceof Error ? error.message : "the request failed",
  };
}

function wordsOf(error: unknown): string {
  const { message } = error as { message?: unknown };
  return typeof message === "string" ? message : JSON.stringify(error);
}

/** Stderr lines that Codex always prints, unrelated to its exit. */
const USUAL = /^WARNING: proceeding|could not find bubblewrap|^\s*$/;
const WORDS_LENGTH = 2_000;

export function exitWords({ exitCode, signal, stderr }: ProgramExit): string {
  const how = signal === null ? `with code ${exitCode ?? "unknown"}` : `by ${signal}`;
  const lines = stderr.split("\n").filter((line) => !USUAL.test(line));
  const words = lines.join("\n").trim().slice(-WORDS_LENGTH);
  return `codex exited ${how}${words === "" ? "" : `: ${words}`}`;
}
