/** Counts requests and formats metrics as Prometheus text. */

/** Upper bounds of the histogram buckets, in seconds. */
const BUCKETS = [0.005, 0.02, 0.1, 0.5, 2, 10];

interface Timing {
  readonly counts: number[];
  sum: number;
  count: number;
}

export interface Sample {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly values: readonly (readonly [labels: string, value: number])[];
}

export class Metrics {
  /** Keyed by method, route and status. The route table bounds the number of keys. */
  readonly #requests = new Map<string, number>();
  readonly #timings = new Map<string, Timing>();

  countRequest(method: string, route: string, status: number, seconds: number): void {
    const labels = `method="${method}",route="${route}"`;
    const key = `${labels},status="${status}"`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    const timing = this.#timings.get(labels) ?? { counts: BUCKETS.map(() => 0), sum: 0, count: 0 };
    this.#timings.set(labels, timing);
    for (const [index, bound] of BUCKETS.entries())
      if (seconds <= bound) timing.counts[index] = (timing.counts[index] ?? 0) + 1;
    timing.sum += seconds;
    timing.count += 1;
  }

  format(samples: readonly Sample[]): string {
    const requests = {
      name: "rookery_http_requests_total",
      help: "HTTP requests, by method, route and status.",
      type: "counter",
      values: [...this.#requests],
    } as const;
    return [requests, ...samples].map(formatSample).join("") + this.#durations();
  }

  #durations(): string {
    const name = "rookery_http_request_duration_seconds";
    const series = Array.from(this.#timings, ([labels, { counts, sum, count }]) => [
      ...BUCKETS.map((bound, index) => `${name}_bucket{${labels},le="${bound}"} ${counts[index] ?? 0}\n`),
      `${name}_bucket{${labels},le="+Inf"} ${count}\n${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${count}\n`,
    ]);
    return `# HELP ${name} Duration of HTTP requests; for streams, until they end.\n# TYPE ${name} histogram\n${series.flat().join("")}`;
  }
}

function formatSample({ name, help, type, values }: Sample): string {
  const samples = values.map(([labels, value]) => `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.join("")}`;
}
