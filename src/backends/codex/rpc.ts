/** JSON-RPC connection to `codex app-server`: one message per line, without the `jsonrpc` field (0.166.0). */
import { z } from "zod";
import { RookeryError } from "../../domain/index.ts";
import {
  sanitizeTerminalText,
  readRecords,
  type AgentProcess,
  type JsonRecord,
  type ProgramExit,
} from "../../programs/index.ts";
import { deferred, type Deferred } from "../../stdx/index.ts";
import { storableJson } from "../storable.ts";

export interface CodexPeer {
  onNotification(method: string, params: unknown): void;
  /** Answers a request. Throws `UnsupportedMethod` for an unsupported method. */
  onRequest(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  onText(text: string): void;
  onDropped(what: string): void;
  /** The output has ended. */
  onEnd(): void;
}

/** An error response of the program. */
export class CodexErrorResponse extends Error {
  override readonly name = "CodexErrorResponse";
}

export class UnsupportedMethod extends Error {
  override readonly name = "UnsupportedMethod";
}

const Id = z.union([z.string(), z.number()]);
const METHOD_NOT_FOUND = -32601;
const INTERNAL = -32603;
/** Open requests of the program; further ones are refused. */
const MAX_OPEN_REQUESTS = 1_000;

export class CodexRpc {
  readonly #process: AgentProcess;
  readonly #peer: CodexPeer;
  readonly #waiting = new Map<number, Deferred<unknown>>();
  readonly #openRequests = new Map<string | number, AbortController>();
  #count = 0;
  #hasEnded = false;

  constructor(process: AgentProcess, peer: CodexPeer) {
    this.#process = process;
    this.#peer = peer;
    process.transport.start(
      readRecords({
        record: (record) => this.#onMessage(record),
        text: (text) => peer.onText(text),
        dropped: (what) => peer.onDropped(what),
        ended: () => this.#end(),
        writeFailed: () => this.#end(),
      }),
    );
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Rejects with `CodexErrorResponse`, `agent_failed`, `agent_exited` when the program exits, or the signal's reason. */
  async request<Schema extends z.ZodType>(
    method: string,
    params: object,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.infer<Schema>> {
    signal?.throwIfAborted();
    if (this.#hasEnded) throw await this.toExitError();
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
  withdrawRequest(id: string | number): void {
    this.#openRequests.get(id)?.abort(new Error("codex withdrew the request"));
  }

  async toExitError(): Promise<RookeryError> {
    return new RookeryError("agent_exited", formatCodexExit(await this.#process.exit()));
  }

  #onMessage(record: JsonRecord): void {
    const { id, method, params, error } = record;
    const known = Id.safeParse(id);
    if (typeof method === "string") {
      if (known.success) this.#serve(known.data, method, params);
      else this.#peer.onNotification(method, params);
    } else if (typeof id === "number" && this.#waiting.has(id)) {
      if (error === undefined || error === null) this.#waiting.get(id)?.resolve(record["result"]);
      else this.#waiting.get(id)?.reject(new CodexErrorResponse(formatRpcError(error)));
    } else this.#peer.onText(sanitizeTerminalText(JSON.stringify(storableJson(record))).slice(0, 2_000)); // JSON that is not a message
  }

  #serve(id: string | number, method: string, params: unknown): void {
    if (this.#openRequests.size >= MAX_OPEN_REQUESTS) {
      this.#write({ id, error: { code: INTERNAL, message: "too many open requests" } });
      return;
    }
    const request = new AbortController();
    this.#openRequests.set(id, request);
    void this.#peer
      .onRequest(method, params, request.signal)
      .then(
        (result) => this.#write({ id, result }),
        (error: unknown) => this.#write({ id, error: toRpcError(error) }),
      )
      .finally(() => this.#openRequests.delete(id));
  }

  #write(message: object): void {
    if (!this.#hasEnded) this.#process.transport.write(`${JSON.stringify(message)}\n`);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void this.#process.close().catch(() => undefined); // a process that survives is found later by its marker
    for (const request of this.#openRequests.values()) request.abort(new Error("codex exited"));
    void this.toExitError().then((error) => {
      for (const waiting of this.#waiting.values()) waiting.reject(error);
    });
    this.#peer.onEnd();
  }
}

function toRpcError(error: unknown): { code: number; message: string } {
  const isUnknown = error instanceof UnsupportedMethod;
  return {
    code: isUnknown ? METHOD_NOT_FOUND : INTERNAL,
    message: error instanceof Error ? error.message : "the request failed",
  };
}

function formatRpcError(error: unknown): string {
  const { message } = error as { message?: unknown };
  return typeof message === "string" ? message : JSON.stringify(storableJson(error));
}

/** Stderr lines that Codex always prints, unrelated to its exit. */
const ROUTINE_STDERR = /^WARNING: proceeding|could not find bubblewrap|^\s*$/;
const MAX_EXIT_TEXT_LENGTH = 2_000;

export function formatCodexExit({ exitCode, signal, stderr }: ProgramExit): string {
  const how = signal === null ? `with code ${exitCode ?? "unknown"}` : `by ${signal}`;
  const lines = stderr.split("\n").filter((line) => !ROUTINE_STDERR.test(line));
  const words = lines.join("\n").trim().slice(-MAX_EXIT_TEXT_LENGTH);
  return `codex exited ${how}${words === "" ? "" : `: ${words}`}`;
}
