/** One side of a JSON-RPC connection that keeps wire order: it handles one message at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import { deferred } from "../../stdx/index.ts";
import {
  ConnectionClosed,
  MessageTooLarge,
  PeerError,
  PeerNotReading,
  RPC,
  methodNotFound,
  requestCancelled,
} from "../errors.ts";
import {
  LazyUpdate,
  formatCancelledId,
  classifyLine,
  formatRequestId,
  type ClassifiedLine,
  type RequestId,
  type RpcErrorObject,
  type RpcNotification,
} from "../wire/message.ts";
import { identifyOversizeMessage } from "../wire/oversize-message.ts";
import { replaceValue } from "../wire/scan.ts";
import { OutgoingRequests } from "./outgoing-requests.ts";
import { IncomingRequests, formatErrorLine } from "./incoming-requests.ts";
import type { ConnectionOptions, RequestOptions } from "./connection-options.ts";
import { Inbox } from "./inbox.ts";
import { Verbatim, type ConnectionHandlers, type IncomingNotification, type Noise } from "./incoming.ts";
import { Outbox } from "./outbox.ts";

export type { ConnectionOptions, RequestOptions } from "./connection-options.ts";

interface InboxEntry {
  readonly line: string;
  readonly size: number;
  readonly what: ClassifiedLine | { readonly kind: "oversize"; readonly tail: string; readonly bytes: number };
}

const READ_BYTES = 1024 * 1024;
/** Size of a message besides its text, so that many small messages cannot bypass the limit. */
const ENTRY_BYTES = 128;
const WRITE_BYTES = 64 * 1024 * 1024;
const EXIT_WAIT_MS = 2_000;
const FLUSH_WAIT_MS = 2_000;
/** How often to probe a peer that sends no more but still expects an answer. */
const PROBE_MS = 1_000;
const NOISE_LENGTH = 2_000;
const CANCEL_METHOD = "$/cancel_request";
const RESOLVED = Promise.resolve();

export class Connection implements AsyncDisposable {
  /** Resolves when nothing more will be received or sent. Never rejects. */
  readonly closed: Promise<void>;
  /** Resolves when the peer sends no more and all of its messages are handled. */
  readonly inputEnded: Promise<void>;
  readonly peer: string;
  readonly #options: ConnectionOptions;
  readonly #outbox: Outbox;
  readonly #inbox: Inbox<InboxEntry>;
  readonly #outgoing = new OutgoingRequests();
  readonly #incoming: IncomingRequests;
  readonly #closed = deferred();
  readonly #inputEnded = deferred();
  #handlers: ConnectionHandlers;
  #paused = false;
  /**
   * True while a request handler is being started. Such a handler blocks nothing, so its own requests need no special
   * treatment.
   */
  #isStartingRequest = false;
  #inputEnd: { readonly error: Error | undefined } | undefined;
  #closedError: ConnectionClosed | undefined;
  /** The process closed its output, and its exit is not known yet. */
  #awaitsExit = false;
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.peer = options.peer ?? "the peer";
    this.#handlers = options.handlers ?? {};
    this.#outbox = new Outbox(options.transport);
    this.#incoming = new IncomingRequests((line) => this.#reply(line));
    this.#inbox = new Inbox(
      (entry) => this.#handle(entry),
      () => this.#afterHandling(),
    );
    this.closed = this.#closed.promise;
    this.inputEnded = this.#inputEnded.promise;
    const { read = classifyLine } = options;
    options.transport.start({
      line: (line) => this.#receive({ line, size: line.length + ENTRY_BYTES, what: read(line) }),
      oversize: (line, tail, bytes) =>
        this.#receive({ line, size: line.length + ENTRY_BYTES, what: { kind: "oversize", tail, bytes } }),
      ended: (error) => {
        this.#inputEnd = { error };
        this.#afterHandling();
      },
      drained: () => this.#outbox.drained(),
      writeFailed: (error) => this.#handleWriteFailure(error),
    });
  }

  /** The reason if the connection has ended; otherwise undefined. */
  get over(): ConnectionClosed | undefined {
    return this.#closedError;
  }

  /** Replaces the handlers, starting with the next message. */
  handle(handlers: ConnectionHandlers): void {
    this.#handlers = handlers;
  }

  /** Rejects with `PeerError`, `ConnectionClosed`, `MessageTooLarge` or `PeerNotReading`. */
  async request<Result = unknown>(method: string, params?: unknown, options: RequestOptions = {}): Promise<Result> {
    const id = this.#outgoing.nextId();
    const response = await this.#sendRequest(id, method, encodeMessage({ id, method, params }), options);
    if (response.error !== undefined) throw new PeerError(response.error);
    return response.result as Result;
  }

  /** Sends another peer's request with an id of this connection, and resolves with the response as it came. */
  forward(line: string, method: string, options: RequestOptions = {}): Promise<Verbatim> {
    const id = this.#outgoing.nextId();
    return this.#sendRequest(id, method, replaceValue(line, "id", String(id)) ?? line, options);
  }

  /** Resolves when there is room for more. Rejects with `ConnectionClosed` or `PeerNotReading`. */
  async notify(method: string, params?: unknown): Promise<void> {
    await this.passOn(encodeMessage({ method, params }));
  }

  /**
   * Sends another peer's notification as it came. Returns undefined while there is room. Throws if it cannot be sent.
   */
  passOn(line: string): Promise<void> | undefined {
    const refusal = this.#peerMayStillListen ? this.#checkWriteLimit() : this.#getSendError();
    if (refusal !== undefined) throw refusal;
    this.#send(line);
    return this.#outbox.ready();
  }

  /** Resolves when there is room to send more. */
  ready(): Promise<void> {
    return this.#outbox.ready() ?? RESOLVED;
  }

  /** Resolves when every request of the peer is answered. */
  idle(): Promise<void> {
    return this.#incoming.idle();
  }

  /**
   * Answers open requests of the peer, sends what is queued, and rejects our own requests. A second call waits for the
   * first.
   */
  close(cause?: unknown): Promise<void> {
    this.#closing ??= this.#close(cause);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #sendRequest(id: number, method: string, line: string, options: RequestOptions): Promise<Verbatim> {
    // Nobody can answer anymore, but the error should report how the process ended, so wait until that is known.
    if (this.#awaitsExit)
      return this.#outgoing.add(id, { method, onResponse: undefined, answered: undefined, apart: true });
    const refusal = this.#getSendError();
    if (refusal !== undefined) throw refusal;
    const { signal, onResponse } = options;
    const answered = options.apart === true || this.#isStartingRequest ? undefined : this.#inbox.releaseForRequest();
    const cancel = (): void => {
      if (this.#closedError === undefined)
        this.#send(encodeMessage({ method: CANCEL_METHOD, params: { requestId: id } }));
    };
    const response = this.#outgoing.add(id, { method, onResponse, answered, apart: options.apart === true });
    this.#send(line);
    if (signal === undefined) return response;
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    return response.finally(() => signal.removeEventListener("abort", cancel));
  }

  #getSendError(): Error | undefined {
    return this.#closedError ?? this.#checkWriteLimit();
  }

  #checkWriteLimit(): Error | undefined {
    const { size } = this.#outbox;
    return size > this.#writeLimit ? new PeerNotReading(this.peer, size) : undefined;
  }

  /** A peer that sends no more may still wait for answers and for notifications that precede them. */
  get #peerMayStillListen(): boolean {
    return this.#inputEnd !== undefined && this.#options.exit === undefined && this.#closing === undefined;
  }

  get #writeLimit(): number {
    return this.#options.writeBytes ?? WRITE_BYTES;
  }

  #send(line: string): void {
    this.#options.trace?.("out", line);
    this.#outbox.send(line);
  }

  /** A response must not be dropped, so a peer that never reads is disconnected. */
  #reply(line: string): void {
    this.#send(line);
    const { size } = this.#outbox;
    if (size > this.#writeLimit && this.#closedError === undefined)
      void this.close(new PeerNotReading(this.peer, size));
  }

  #receive(entry: InboxEntry): void {
    this.#options.trace?.("in", entry.line);
    const { what } = entry;
    if (what.kind === "notification" && what.message.method === CANCEL_METHOD)
      return this.#cancelIncoming(entry.line, what.message.params);
    this.#inbox.push(entry);
    this.#updateReading();
  }

  /** Handled on arrival, because the request to cancel may still be queued. */
  #cancelIncoming(cancel: string, params: unknown): void {
    const id = formatCancelledId(params, cancel);
    if (id === undefined) return;
    const waits = (): boolean =>
      this.#inbox
        .waiting()
        .some(({ what, line }) => what.kind === "request" && formatRequestId(what.message.id, line) === id);
    this.#incoming.cancel(id, waits);
  }

  /** Pauses reading while the inbox is over its limit. */
  #updateReading(): void {
    const limit = this.#options.readBytes ?? READ_BYTES;
    const full = this.#inbox.size > (this.#paused ? limit / 2 : limit);
    if (full === this.#paused) return;
    this.#paused = full;
    if (full) this.#options.transport.pause();
    else this.#options.transport.resume();
  }

  #handle({ what, line }: InboxEntry): Promise<unknown> | undefined {
    if (this.#closing !== undefined) return undefined; // nobody gets an answer anymore
    switch (what.kind) {
      case "notification":
        return this.#handleNotification(toIncomingNotification(what.message, line));
      case "request":
        return this.#handleRequest(what.message.id, what.message.method, what.message.params, line);
      case "response":
        return this.#handleResponse(what.message.id, new Verbatim(line, what.message), line);
      case "invalid":
        return this.#handleMalformed("not_a_message", line, { code: RPC.invalidRequest, message: what.why }, what.id);
      case "noise":
        return this.#handleMalformed("not_json", line, { code: RPC.parseError, message: "the line is not JSON" }, null);
      case "oversize":
        return this.#handleOversize(line, what.tail, what.bytes);
    }
  }

  #handleNotification(notification: IncomingNotification): Promise<unknown> | undefined {
    const failed = (error: unknown): void => this.#handlers.failed?.(error, notification);
    try {
      const done = this.#handlers.notification?.(notification);
      return done instanceof Promise ? done.catch(failed) : undefined;
    } catch (error) {
      failed(error);
      return undefined;
    }
  }

  #handleRequest(id: RequestId, method: string, params: unknown, line: string): Promise<unknown> | undefined {
    const request = this.#incoming.begin(formatRequestId(id, line));
    if (request === undefined) return undefined;
    if (request.controller.signal.aborted) {
      this.#incoming.fail(request, requestCancelled()); // cancelled while queued, so the handler does not see it
      return undefined;
    }
    let held: Promise<unknown> | undefined;
    const hold = (until: Promise<unknown>): void => {
      held = until;
    };
    const respond = (value: unknown): void => this.#incoming.respond(request, value);
    const fail = (error: unknown): void => this.#incoming.fail(request, error);
    /** Turns an exception of the handler into a rejection. */
    const run = async (): Promise<unknown> => {
      const handler = this.#handlers;
      if (handler.request === undefined) throw methodNotFound(method);
      return handler.request({ id, method, params, line, signal: request.controller.signal, hold, respond, fail });
    };
    this.#isStartingRequest = true;
    const result = run();
    this.#isStartingRequest = false;
    result.then(respond, fail);
    return held;
  }

  #handleResponse(id: RequestId, response: Verbatim | MessageTooLarge, line: string): Promise<unknown> | undefined {
    const settled = this.#outgoing.settle(id, response);
    if (settled === undefined) this.#reportNoise("response_to_nothing", line);
    else if (!settled.isPassedOn) this.#inbox.yield();
    return settled?.held;
  }

  #handleMalformed(kind: Noise["kind"], line: string, error: RpcErrorObject, id: RequestId): undefined {
    this.#reportNoise(kind, line);
    if (this.#options.malformed === "answer") this.#reply(formatErrorLine(formatRequestId(id, line), error));
  }

  #handleOversize(head: string, tail: string, bytes: number): Promise<unknown> | undefined {
    this.#reportNoise("too_large", head, bytes);
    const identity = identifyOversizeMessage(head, tail);
    if (identity === undefined) return undefined;
    const { id, idText, isRequest } = identity;
    if (isRequest) {
      const message = `the message has ${bytes} bytes, which exceeds the limit`;
      this.#reply(formatErrorLine(idText, { code: RPC.invalidRequest, message, data: { bytes } }));
      return undefined;
    }
    const method = this.#outgoing.getMethod(id);
    if (method === undefined) return undefined;
    return this.#handleResponse(id, new MessageTooLarge(`the answer to ${method}`, bytes), head);
  }

  #reportNoise(kind: Noise["kind"], text: string, bytes?: number): void {
    try {
      this.#handlers.noise?.({ kind, text: text.slice(0, NOISE_LENGTH), ...(bytes !== undefined && { bytes }) });
    } catch {
      // A listener's failure must not affect the messages that follow.
    }
  }

  #afterHandling(): void {
    this.#updateReading();
    if (this.#inputEnd === undefined || !this.#inbox.idle || this.#closedError !== undefined) return;
    void this.#finish(this.#inputEnd.error);
  }

  /** Called when all input is handled: rejects our pending requests. Open requests of the peer are still answered. */
  async #finish(error: Error | undefined): Promise<void> {
    const { exit } = this.#options;
    const end = error === undefined ? "eof" : "broken";
    this.#closedError = new ConnectionClosed(end, this.peer, { cause: error });
    if (exit !== undefined) {
      this.#awaitsExit = true;
      const waiting = new AbortController();
      const timeout = sleep(EXIT_WAIT_MS, undefined, { signal: waiting.signal }).catch(() => undefined);
      const peerExit = await Promise.race([exit().catch(() => undefined), timeout]);
      waiting.abort();
      this.#awaitsExit = false;
      this.#closedError = new ConnectionClosed(end, this.peer, { exit: peerExit, cause: error });
      this.#incoming.abortAll(this.#closedError);
    }
    this.#outgoing.failAll(this.#closedError);
    this.#inputEnded.resolve();
    if (exit === undefined) await this.#answerOpenRequests(); // otherwise the peer is gone
    await this.close();
  }

  /**
   * A closed peer is also silent; only a failed write reveals it. The probe means nothing to a peer that still reads.
   */
  async #answerOpenRequests(): Promise<void> {
    const probe = setInterval(
      () => this.#send(encodeMessage({ method: CANCEL_METHOD, params: { requestId: null } })),
      PROBE_MS,
    );
    await this.#incoming.idle();
    clearInterval(probe);
  }

  async #close(cause: unknown): Promise<void> {
    const closedError = (this.#closedError ??= new ConnectionClosed("closed", this.peer, { cause }));
    this.#incoming.abortAll(closedError);
    this.#incoming.failAll({ code: RPC.internalError, message: "the connection is being closed" });
    this.#outgoing.failAll(closedError);
    const { transport } = this.#options;
    const sent = this.#outbox.flushed().then(() => transport.end());
    await Promise.race([sent, sleep(FLUSH_WAIT_MS, undefined, { ref: false })]);
    transport.destroy();
    this.#outbox.fail();
    this.#inputEnded.resolve();
    this.#closed.resolve();
  }

  #handleWriteFailure(error: Error): void {
    this.#outbox.fail();
    if (this.#closedError !== undefined && this.#options.exit === undefined) return void this.close(error);
    // A dead process closes both directions: wait a moment for its last output and its exit.
    void sleep(EXIT_WAIT_MS, undefined, { ref: false }).then(() => {
      this.#closedError ??= new ConnectionClosed("broken", this.peer, { cause: error });
      return this.close();
    });
  }
}

function toIncomingNotification(message: RpcNotification, line: string): IncomingNotification {
  return message instanceof LazyUpdate ? message : { method: message.method, params: message.params, line };
}

function encodeMessage(message: { id?: number; method: string; params?: unknown }): string {
  return JSON.stringify({ jsonrpc: "2.0", ...message });
}
