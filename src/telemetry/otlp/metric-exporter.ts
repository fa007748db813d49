/** Exports all metrics periodically. A failed export is not retried: the next one has the same totals. */
import type { Counter, MetricFamily } from "../meter.ts";
import { encodeMetrics, type OtlpResource } from "./encode.ts";
import { sendOtlp, type OtlpEndpoint } from "./send.ts";

export interface MetricExporterOptions {
  readonly endpoint: OtlpEndpoint;
  readonly resource: OtlpResource;
  readonly intervalMs: number;
  /** Counts by the label `result`: exported, failed. */
  readonly counter: Counter;
  readonly collect: () => readonly MetricFamily[];
  readonly onProblem: (message: string) => void;
}

export class MetricExporter {
  readonly #options: MetricExporterOptions;
  readonly #start = Date.now();
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #sending: Promise<void> | undefined;
  #isReported = false;

  constructor(options: MetricExporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#startExport(), options.intervalMs).unref();
  }

  /** Exports once more if `last` is set, for at most `ms` milliseconds. */
  async close(ms: number, { last }: { readonly last: boolean }): Promise<void> {
    clearInterval(this.#timer);
    const end = setTimeout(() => this.#closing.abort(), ms);
    await this.#sending;
    if (last && !this.#closing.signal.aborted) await this.#export();
    clearTimeout(end);
    this.#closing.abort();
  }

  /** Skips an export while the one before has not ended. */
  #startExport(): void {
    this.#sending ??= this.#export().finally(() => {
      this.#sending = undefined;
    });
  }

  async #export(): Promise<void> {
    const { endpoint, resource, counter, collect, onProblem } = this.#options;
    const body = encodeMetrics(collect(), resource, { start: this.#start, now: Date.now() });
    const result = await sendOtlp(endpoint, body, this.#closing.signal);
    const isAccepted = result.status === "accepted";
    counter.add({ result: isAccepted ? "exported" : "failed" });
    if (isAccepted) this.#isReported = false;
    else if (!this.#isReported) {
      this.#isReported = true;
      onProblem(`metrics are not exported: ${result.reason}`);
    }
  }
}
