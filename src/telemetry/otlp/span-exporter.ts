/** Exports spans in batches from a bounded queue. Spans beyond it are dropped and counted: nothing ever waits for it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Counter } from "../meter.ts";
import type { Span } from "../span.ts";
import { encodeSpans, type OtlpResource } from "./encode.ts";
import { sendOtlp, type OtlpEndpoint } from "./send.ts";

export interface SpanExporterOptions {
  readonly endpoint: OtlpEndpoint;
  readonly resource: OtlpResource;
  readonly queueSize: number;
  readonly batchSize: number;
  readonly intervalMs: number;
  /** The wait before the second attempt, which doubles with each further one. Default: 1 s. */
  readonly firstRetryMs?: number | undefined;
  /** Counts by the label `result`: exported, dropped, failed. */
  readonly counter: Counter;
  readonly onProblem: (message: string) => void;
}

const FIRST_RETRY_MS = 1_000;
/** A longer Retry-After counts as this. In milliseconds. */
const MAX_RETRY_MS = 30_000;
const MAX_ATTEMPTS = 6;

export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #queue: Span[] = [];
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isReported = false;
  /** True when the exporter closes: a failed batch is not tried again. */
  #isHurried = false;
  #endWait: () => void = () => undefined;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  add(span: Span): void {
    const { queueSize, batchSize, intervalMs, counter } = this.#options;
    if (this.#closing.signal.aborted || this.#queue.length >= queueSize) return counter.add({ result: "dropped" });
    this.#queue.push(span);
    if (this.#queue.length >= batchSize) this.#startSending();
    else this.#timer ??= setTimeout(() => this.#startSending(), intervalMs).unref();
  }

  /** Sends what is left, for at most `ms` milliseconds, and drops the rest. */
  async close(ms: number): Promise<void> {
    clearTimeout(this.#timer);
    const end = setTimeout(() => this.#closing.abort(), ms);
    this.#isHurried = true;
    this.#endWait();
    try {
      while (this.#queue.length > 0 || this.#sending !== undefined) {
        this.#startSending();
        await this.#sending;
        if (this.#closing.signal.aborted) break;
      }
    } finally {
      clearTimeout(end);
      this.#closing.abort();
      this.#drop(this.#queue.splice(0).length, "dropped");
    }
  }

  #startSending(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0 && !this.#closing.signal.aborted) {
      await this.#sendBatch(this.#queue.splice(0, this.#options.batchSize));
    }
  }

  async #sendBatch(batch: readonly Span[]): Promise<void> {
    const { endpoint, resource, counter } = this.#options;
    const body = encodeSpans(batch, resource);
    for (let attempt = 1; ; attempt += 1) {
      const result = await sendOtlp(endpoint, body, this.#closing.signal);
      if (result.status === "accepted") {
        const rejected = Math.min(result.rejected, batch.length);
        counter.add({ result: "exported" }, batch.length - rejected);
        if (rejected > 0) this.#fail(rejected, `rejected ${rejected} spans: ${result.reason ?? "no reason given"}`);
        else this.#isReported = false;
        return;
      }
      const isOver = attempt >= MAX_ATTEMPTS || this.#isHurried || this.#closing.signal.aborted;
      if (result.status === "refused" || isOver) return this.#fail(batch.length, result.reason);
      this.#report(result.reason);
      await this.#wait(this.#delayAfter(result, attempt));
    }
  }

  #delayAfter({ afterMs = 0 }: { readonly afterMs?: number | undefined }, attempt: number): number {
    const { firstRetryMs = FIRST_RETRY_MS } = this.#options;
    return Math.min(Math.max(afterMs, firstRetryMs * 2 ** (attempt - 1)), MAX_RETRY_MS);
  }

  /** Ends early when the exporter closes. */
  async #wait(ms: number): Promise<void> {
    const hurry = new AbortController();
    this.#endWait = () => hurry.abort();
    await sleep(ms, undefined, { ref: false, signal: hurry.signal }).catch(() => undefined);
  }

  #fail(count: number, reason: string): void {
    this.#drop(count, "failed");
    this.#report(reason);
  }

  #drop(count: number, result: "dropped" | "failed"): void {
    if (count > 0) this.#options.counter.add({ result }, count);
  }

  /** Once until an export succeeds. */
  #report(reason: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#options.onProblem(`traces are not exported: ${reason}`);
  }
}
