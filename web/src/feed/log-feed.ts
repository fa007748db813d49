/**
 * Follows the log of the server for any number of pages. A browser opens at most six connections to one host, so the
 * pages share one stream.
 */
import { errorOf, isRookeryError, type FeedEvent, type RookeryClient } from "../../../src/client/index.ts";
import type { FeedMessage, FeedStatus } from "./messages.ts";

/** Events are sent in groups, because each message between threads has a cost of its own. */
const SEND_EVERY_MS = 16;
const MAX_GROUP = 500;
/** The server sends a heartbeat every 15 seconds. */
const SILENCE_MS = 35_000;
const RETRY_MS = 1_000;

type Send = (message: FeedMessage) => void;

export class LogFeed {
  readonly #client: RookeryClient;
  readonly #pages = new Set<Send>();
  readonly #closing = new AbortController();
  #status: FeedStatus = { state: "connecting", log: 0 };
  #group: FeedEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: RookeryClient) {
    this.#client = client;
    void this.#run();
  }

  join(send: Send): void {
    this.#pages.add(send);
    send({ type: "status", status: this.#status });
  }

  leave(send: Send): void {
    this.#pages.delete(send);
  }

  /** Ends the stream. Its pages are signed out: their key belongs to a cookie that the browser no longer has. */
  close(): void {
    this.#closing.abort();
    this.#setStatus({ ...this.#status, state: "signed_out" });
    this.#pages.clear();
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        const after = await this.#readHead();
        this.#setStatus({ state: "connected", log: this.#status.log + 1 });
        await this.#follow(after);
      } catch (error) {
        if (isRookeryError(error, "unauthorized")) return this.#setStatus({ ...this.#status, state: "signed_out" });
        const reason = error instanceof Error ? error.message : String(error);
        this.#setStatus({ ...this.#status, state: "disconnected", reason });
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #readHead(): Promise<number> {
    const { data, error, response } = await this.#client.GET("/v1/events", { params: { query: { limit: 0 } } });
    if (data !== undefined) return data.head;
    throw errorOf(error, response.status);
  }

  /** Rejects if the cursor is no longer valid, because the server has another log. */
  async #follow(after: number): Promise<void> {
    const onConnection = (state: { readonly connected: boolean; readonly reason?: Error }): void => {
      const reason = state.reason?.message;
      this.#setStatus({ log: this.#status.log, state: state.connected ? "connected" : "disconnected", reason });
    };
    const feed = this.#client.follow({
      everything: true,
      after,
      signal: this.#closing.signal,
      tries: Number.POSITIVE_INFINITY,
      silenceMs: SILENCE_MS,
      onConnection,
      onDeleted: (sessionId) => {
        this.#flush(); // pages get it after the events of the session
        this.#send({ type: "deleted", sessionId });
      },
    });
    for await (const followed of feed) this.#add(followed);
  }

  #add(followed: FeedEvent): void {
    this.#group.push(followed);
    if (this.#group.length >= MAX_GROUP) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), SEND_EVERY_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#group;
    this.#group = [];
    if (events.length > 0) this.#send({ type: "events", events });
  }

  #setStatus(status: FeedStatus): void {
    this.#flush(); // pages get events and status changes in order
    this.#status = status;
    this.#send({ type: "status", status });
  }

  #send(message: FeedMessage): void {
    for (const send of this.#pages) send(message);
  }
}
