/** One side of a JSON-RPC connection that keeps wire order: responses, requests and notifications are taken one at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import { deferred, type Deferred } from "../../stdx/index.ts";
import {
  ConnectionClosed,
  MessageTooLarge,
  PeerError,
  PeerNotReading,
  RPC,
  methodNotFound,
  requestCancelled,
  type PeerExit,
} from "../errors.ts";
import { classify, idText, type Classified, type RequestId, type RpcErrorObject } from "../wire/message.ts";
import { topLevelSpans, withValue } from "../wire/scan.ts";
import type { Transport } from "../wire/transport.ts";
import { Inbox } from "./inbox.ts";
import { Verbatim, type ConnectionHandlers, type IncomingRequest, type Noise } from "./incoming.ts";
import { Outbox } from "./outbox.ts";

export interface ConnectionOptions {
  readonly transport: Transport;
  readonly handlers?: ConnectionHandlers | undefined;
  /** How the other side is called in errors. */
  readonly peer?: string | undefined;
  /** What is no message is an event (`report`); one who is spoken to by strangers also answers it, as JSON-RPC says. */
  readonly malformed?: "report" | "answer" | undefined;
  /** Asked once nothing more comes in, where the peer is a process. */
  readonly exit?: (() => Promise<PeerExit | undefined>) | undefined;
  /** Sees every line, both ways, as it is on the wire. */
  readonly trace?: ((direction: "in" | "out", line: string) => void) | undefined;
  /** What may wait to be handled before reading stops; 1 MiB if not said. */
  readonly readBytes?: number | undefined;
  /** What may wait for a peer that does not read before sending fails; 64 MiB if not said. */
  readonly writeBytes?: number | undefined;
}

export interface RequestOptions {
  /** Tells the peer with `$/cancel_request`; its answer is waited for all the same. */
  readonly signal?: AbortSignal | undefined;
  /** Called in wire order: the next message waits until it settles. */
  readonly onResponse?: ((response: Verbatim) => void | Promise<void>) | undefined;
  /** Made apart from the handler that holds the connection now, if one does: it goes on holding. */
  readonly apart?: boolean | undefined;
}

interface Entry {
  readonly line: string;
  readonly size: number;
  readonly what: Classified | { readonly kind: "oversize"; readonly tail: string; readonly bytes: number };
}

interface Pending {
  readonly settle: (response: Verbatim | Error) => void;
  readonly method: string;
  readonly onResponse: RequestOptions["onResponse"];
  readonly answered: (() => void) | undefined;
}

interface Active {
  readonly controller: AbortController;
  readonly idText: string;
  responded: boolean;
}

const READ_BYTES = 1024 * 1024;
const WRITE_BYTES = 64 * 1024 * 1024;
const EXIT_WAIT_MS = 2_000;
const FLUSH_WAIT_MS = 2_000;
const NOISE_LENGTH = 2_000;
const CANCEL = "$/cancel_request";
const READY = Promise.resolve();

export class Connection implements AsyncDisposable {
  /** Resolves when nothing more will come or go. Never rejects. */
  readonly closed: Promise<void>;
  /** Resolves when everything that the peer sent has been handled, and it sends no more. */
  readonly inputEnded: Promise<void>;
  readonly #options: ConnectionOptions;
  readonly #peer: string;
  readonly #outbox: Outbox;
  readonly #inbox: Inbox<Entry>;
  readonly #pending = new Map<RequestId, Pending>();
  readonly #active = new Map<string, Active>();
  readonly #cancelledEarly = new Set<string>();
  readonly #closed = deferred();
  readonly #inputEnded = deferred();
  readonly #idle: Deferred<void>[] = [];
  #handlers: ConnectionHandlers;
  #nextId = 0;
  #paused = false;
  /** A request's handler holds nothing up unless it says so, and what it asks needs no haste. */
  #startsRequest = false;
  #ended: { readonly error: Error | undefined } | undefined;
  #over: ConnectionClosed | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#peer = options.peer ?? "the peer";
    this.#handlers = options.handlers ?? {};
    this.#outbox = new Outbox(options.transport);
    this.#inbox = new Inbox(
      (entry) => this.#handle(entry),
      () => this.#afterHandling(),
    );
    this.closed = this.#closed.promise;
    this.inputEnded = this.#inputEnded.promise;
    options.transport.start({
      line: (line) => this.#arrived({ line, size: line.length, what: classify(line) }),
      oversize: (head, tail, bytes) =>
        this.#arrived({ line: head, size: head.length, what: { kind: "oversize", tail, bytes } }),
      ended: (error) => {
        this.#ended = { error };
        this.#afterHandling();
      },
      drained: () => this.#outbox.drained(),
      writeFailed: (error) => this.#writeFailed(error),
    });
  }

  /** Why it ended; undefined while it goes on. */
  get over(): ConnectionClosed | undefined {
    return this.#over;
  }

  get peer(): string {
    return this.#peer;
  }

  /** Takes the place of the handlers there were, from the next message on. */
  handle(handlers: ConnectionHandlers): void {
    this.#handlers = handlers;
  }

  /** Rejects with `PeerError`, `ConnectionClosed`, `MessageTooLarge` or `PeerNotReading`. */
  async request<Result = unknown>(method: string, params?: unknown, options: RequestOptions = {}): Promise<Result> {
    const id = (this.#nextId += 1);
    const response = await this.#ask(id, method, encode({ id, method, params }), options);
    if (response.error !== undefined) throw new PeerError(response.error);
    return response.result as Result;
  }

  /** Sends a request of someone else with an id of our own, and gives the response as it came. */
  forward(line: string, method: string, options: RequestOptions = {}): Promise<Verbatim> {
    const id = (this.#nextId += 1);
    return this.#ask(id, method, withValue(line, "id", String(id)) ?? line, options);
  }

  /** Resolves when there is room for more; rejects with `ConnectionClosed` or `PeerNotReading`. */
  notify(method: string, params?: unknown): Promise<void> {
    return this.#tell(encode({ method, params }));
  }

  /** Sends a notification of someone else, as it came. */
  forwardNotification(line: string): Promise<void> {
    return this.#tell(line);
  }

  /** Resolves when there is room for more to be sent. */
  ready(): Promise<void> {
    return this.#outbox.ready() ?? READY;
  }

  /** Answers what is in hand, sends what waits, and fails what was asked. A second call waits for the first. */
  close(cause?: unknown): Promise<void> {
    this.#closing ??= this.#close(cause);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #ask(id: number, method: string, line: string, options: RequestOptions): Promise<Verbatim> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const { signal, onResponse } = options;
    const answered = options.apart === true || this.#startsRequest ? undefined : this.#inbox.letGo();
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        if (this.#over === undefined) this.#send(encode({ method: CANCEL, params: { requestId: id } }));
      };
      const settle = (response: Verbatim | Error): void => {
        signal?.removeEventListener("abort", cancel);
        if (response instanceof Error) reject(response);
        else resolve(response);
      };
      this.#pending.set(id, { settle, method, onResponse, answered });
      this.#send(line);
      if (signal?.aborted === true) cancel();
      else signal?.addEventListener("abort", cancel, { once: true });
    });
  }

  #tell(line: string): Promise<void> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    this.#send(line);
    return this.ready();
  }

  #refusal(): Error | undefined {
    if (this.#over !== undefined) return this.#over;
    const { size } = this.#outbox;
    return size > this.#writeLimit ? new PeerNotReading(this.#peer, size) : undefined;
  }

  get #writeLimit(): number {
    return this.#options.writeBytes ?? WRITE_BYTES;
  }

  #send(line: string): void {
    this.#options.trace?.("out", line);
    this.#outbox.send(line);
  }

  #arrived(entry: Entry): void {
    this.#options.trace?.("in", entry.line);
    const { what } = entry;
    if (what.kind === "notification" && what.message.method === CANCEL) return this.#cancelled(what.message.params);
    this.#inbox.push(entry);
    this.#flow();
  }

  /** Reading stops while too much waits to be handled. */
  #flow(): void {
    const limit = this.#options.readBytes ?? READ_BYTES;
    const full = this.#inbox.size > (this.#paused ? limit / 2 : limit);
    if (full === this.#paused) return;
    this.#paused = full;
    if (full) this.#options.transport.pause();
    else this.#options.transport.resume();
  }

  #handle(entry: Entry): Promise<unknown> | undefined {
    const { what, line } = entry;
    switch (what.kind) {
      case "notification":
        return this.#notified({ method: what.message.method, params: what.message.params, line });
      case "request":
        return this.#requested(what.message.id, what.message.method, what.message.params, line);
      case "response":
        return this.#answered(what.message.id, new Verbatim(line, what.message), line);
      case "invalid":
        return this.#malformed("not_a_message", line, { code: RPC.invalidRequest, message: what.why }, what.id);
      case "noise":
        return this.#malformed("not_json", line, { code: RPC.parseError, message: "this is not JSON" }, null);
      case "oversize":
        return this.#tooLarge(line, what.tail, what.bytes);
    }
  }

  #notified(notification: { method: string; params: unknown; line: string }): Promise<unknown> | undefined {
    const failed = (error: unknown): void => this.#handlers.failed?.(error, notification);
    try {
      const done = this.#handlers.notification?.(notification);
      return done instanceof Promise ? done.catch(failed) : undefined;
    } catch (error) {
      failed(error);
      return undefined;
    }
  }

  #requested(id: RequestId, method: string, params: unknown, line: string): Promise<unknown> | undefined {
    const key = idText(id, line);
    const active: Active = { controller: new AbortController(), idText: key, responded: false };
    if (this.#active.has(key)) {
      this.#send(
        failure(key, { code: RPC.invalidRequest, message: `a request with the id ${key} is in hand already` }),
      );
      return undefined;
    }
    this.#active.set(key, active);
    if (this.#cancelledEarly.delete(key)) active.controller.abort(requestCancelled());
    let held: Promise<unknown> | undefined;
    const request: IncomingRequest = {
      id,
      method,
      params,
      line,
      signal: active.controller.signal,
      hold: (until) => {
        held = until;
      },
    };
    this.#startsRequest = true;
    const result = this.#run(request);
    this.#startsRequest = false;
    const done = result.then(
      (result) => this.#respond(active, result),
      (error: unknown) => this.#respondError(active, error),
    );
    done.catch((error: unknown) => void this.close(error)); // a result that is no JSON was answered; this is a defect
    return held;
  }

  /** What a handler throws at once is a rejection too. */
  async #run(request: IncomingRequest): Promise<unknown> {
    if (this.#handlers.request === undefined) throw methodNotFound(request.method);
    return this.#handlers.request(request);
  }

  #respond(active: Active, result: unknown): void {
    let line: string;
    if (result instanceof Verbatim) {
      line = withValue(result.line, "id", active.idText) ?? result.line;
    } else {
      try {
        line = `{"jsonrpc":"2.0","id":${active.idText},"result":${stringify(result)}}`;
      } catch (error) {
        return this.#respondError(active, error);
      }
    }
    this.#reply(active, line);
  }

  #respondError(active: Active, error: unknown): void {
    this.#reply(active, failure(active.idText, errorObject(error, active.controller.signal)));
  }

  #reply(active: Active, line: string): void {
    if (active.responded) return;
    active.responded = true;
    this.#active.delete(active.idText);
    if (this.#over === undefined || this.#ended !== undefined) this.#send(line);
    if (this.#active.size === 0) for (const waiter of this.#idle.splice(0)) waiter.resolve();
    const { size } = this.#outbox; // an answer is owed, so one who asks and never reads is left
    if (size > this.#writeLimit) void this.close(new PeerNotReading(this.#peer, size));
  }

  #answered(id: RequestId, response: Verbatim | MessageTooLarge, line: string): Promise<unknown> | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) {
      this.#noise("response_to_nothing", line);
      return undefined;
    }
    this.#pending.delete(id);
    pending.answered?.();
    const held = response instanceof Verbatim ? settled(() => pending.onResponse?.(response)) : undefined;
    pending.settle(response);
    if (held === undefined) this.#inbox.yield();
    return held;
  }

  #malformed(kind: Noise["kind"], line: string, error: RpcErrorObject, id: RequestId): undefined {
    this.#noise(kind, line);
    if (this.#options.malformed === "answer") this.#send(failure(JSON.stringify(id), error));
  }

  #tooLarge(head: string, tail: string, bytes: number): Promise<unknown> | undefined {
    const spans = topLevelSpans(head);
    const found = (key: string): string | undefined => {
      const span = spans.get(key);
      return span === undefined ? undefined : head.slice(span.start, span.end);
    };
    const id = found("id") ?? /"id"\s*:\s*(\d+|"[^"\\]*")\s*\}\s*$/.exec(tail)?.[1];
    const isRequest = found("method") !== undefined;
    this.#noise("too_large", head);
    if (id === undefined) return undefined;
    if (isRequest) {
      const message = `the message had ${bytes} bytes, which is more than is taken here`;
      this.#send(failure(id, { code: RPC.invalidRequest, message, data: { bytes } }));
      return undefined;
    }
    const pending = this.#pending.get(JSON.parse(id) as RequestId);
    if (pending === undefined) return undefined;
    return this.#answered(
      JSON.parse(id) as RequestId,
      new MessageTooLarge(`the answer to ${pending.method}`, bytes),
      head,
    );
  }

  #noise(kind: Noise["kind"], text: string): void {
    this.#handlers.noise?.({ kind, text: text.slice(0, NOISE_LENGTH) });
  }

  /** Taken as it arrives, although what it cancels may still wait its turn. */
  #cancelled(params: unknown): void {
    const id = (params as { requestId?: unknown } | null | undefined)?.requestId;
    if (typeof id !== "string" && typeof id !== "number") return;
    const key = JSON.stringify(id);
    const active = this.#active.get(key);
    if (active !== undefined) return active.controller.abort(requestCancelled());
    const waits = this.#inbox.waiting().some(({ what }) => what.kind === "request" && what.message.id === id);
    if (waits) this.#cancelledEarly.add(key);
  }

  #afterHandling(): void {
    this.#flow();
    if (this.#ended === undefined || !this.#inbox.idle || this.#over !== undefined) return;
    this.#finish(this.#ended.error).catch(() => undefined); // it has no way to fail that is not told to the requests
  }

  /** Everything that came has been handled: what was asked gets no answer any more, what is in hand is still answered. */
  async #finish(error: Error | undefined): Promise<void> {
    const { exit } = this.#options;
    const end = error === undefined ? "eof" : "broken";
    this.#over = new ConnectionClosed(end, this.#peer, { cause: error });
    const told = exit === undefined ? undefined : await Promise.race([exit(), sleep(EXIT_WAIT_MS, undefined)]);
    this.#over = new ConnectionClosed(end, this.#peer, { exit: told, cause: error });
    this.#failPending(this.#over);
    if (exit !== undefined) this.#abortActive(this.#over);
    this.#inputEnded.resolve();
    if (this.#active.size > 0) {
      const idle = deferred();
      this.#idle.push(idle);
      await idle.promise;
    }
    await this.close();
  }

  async #close(cause: unknown): Promise<void> {
    const over = (this.#over ??= new ConnectionClosed("closed", this.#peer, { cause }));
    this.#abortActive(over);
    for (const active of [...this.#active.values()]) {
      const error = { code: RPC.internalError, message: "the connection is being closed" };
      if (!active.responded) this.#send(failure(active.idText, error));
      active.responded = true;
    }
    this.#active.clear();
    this.#failPending(over);
    const { transport } = this.#options;
    const gone = this.#outbox.flushed().then(() => transport.end());
    await Promise.race([gone, sleep(FLUSH_WAIT_MS, undefined, { ref: false })]);
    transport.destroy();
    this.#outbox.fail();
    for (const waiter of this.#idle.splice(0)) waiter.resolve();
    this.#inputEnded.resolve();
    this.#closed.resolve();
  }

  #writeFailed(error: Error): void {
    this.#outbox.fail();
    if (this.#closing !== undefined || this.#over !== undefined) return;
    // A dead process closes both ways: its last words and its exit are worth a moment.
    void sleep(EXIT_WAIT_MS, undefined, { ref: false }).then(() => {
      if (this.#over !== undefined) return;
      this.#over = new ConnectionClosed("broken", this.#peer, { cause: error });
      return this.close();
    });
  }

  #failPending(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { settle, answered } of pending) {
      answered?.();
      settle(error);
    }
  }

  #abortActive(reason: Error): void {
    for (const { controller } of this.#active.values()) controller.abort(reason);
  }
}

function encode(message: { id?: number; method: string; params?: unknown }): string {
  return JSON.stringify({ jsonrpc: "2.0", ...message });
}

function failure(id: string, error: RpcErrorObject): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${stringify(error)}}`;
}

function stringify(value: unknown): string {
  return value === undefined ? "null" : JSON.stringify(value);
}

function errorObject(error: unknown, signal: AbortSignal): RpcErrorObject {
  if (error instanceof PeerError) return error.raw;
  if (signal.aborted) return requestCancelled().raw;
  return { code: RPC.internalError, message: error instanceof Error ? error.message : String(error) };
}

function settled(call: () => void | Promise<void>): Promise<unknown> | undefined {
  try {
    const done = call();
    return done instanceof Promise ? done.catch(() => undefined) : undefined;
  } catch {
    return undefined; // whoever asked is told by the request itself
  }
}
