/** What is counted, as Prometheus reads it. */

/** In seconds. */
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
  /** By method, route and status: as many as the table has rows, times the statuses. */
  readonly #requests = new Map<string, number>();
  readonly #timings = new Map<string, Timing>();

  counted(method: string, route: string, status: number, seconds: number): void {
    const where = `method="${method}",route="${route}"`;
    const key = `${where},status="${status}"`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    const timing = this.#timings.get(where) ?? { counts: BUCKETS.map(() => 0), sum: 0, count: 0 };
    this.#timings.set(where, timing);
    for (const [index, bound] of BUCKETS.entries())
      if (seconds <= bound) timing.counts[index] = (timing.counts[index] ?? 0) + 1;
    timing.sum += seconds;
    timing.count += 1;
  }

  text(samples: readonly Sample[]): string {
    const requests = {
      name: "rookery_http_requests_total",
      help: "Requests that were answered.",
      type: "counter",
      values: [...this.#requests],
    } as const;
    return [requests, ...samples].map(lines).join("") + this.#durations();
  }

  #durations(): string {
    const name = "rookery_http_request_duration_seconds";
    const series = Array.from(this.#timings, ([where, { counts, sum, count }]) => [
      ...BUCKETS.map((bound, index) => `${name}_bucket{${where},le="${bound}"} ${counts[index] ?? 0}\n`),
      `${name}_bucket{${where},le="+Inf"} ${count}\n${name}_sum{${where}} ${sum}\n${name}_count{${where}} ${count}\n`,
    ]);
    return `# HELP ${name} How long answers took; of streams, until their end.\n# TYPE ${name} histogram\n${series.flat().join("")}`;
  }
}

function lines({ name, help, type, values }: Sample): string {
  const samples = values.map(([labels, value]) => `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.join("")}`;
}
