/** Metrics of everything in the store, for all processes that share it. Read when metrics are collected, with bounds. */
import { workerStatus, type StoredWorker, type Store, type WorkerStatus } from "../domain/index.ts";
import type { MetricFamily, NumberPoint } from "./meter.ts";

/** Counting sessions reads all of them, so the figures are kept for this long, in milliseconds. */
const CACHE_MS = 10_000;
/** A slow database does not delay a scrape for longer than this. In milliseconds. */
const MAX_READ_MS = 2_000;

type ClusterStore = Pick<Store, "countTasks" | "countSessions" | "tasks" | "workers">;

export class ClusterMetrics {
  readonly #store: ClusterStore;
  readonly #maxReadMs: number;
  #kept: { readonly at: number; readonly families: readonly MetricFamily[] } | undefined;
  #reading: Promise<readonly MetricFamily[]> | undefined;

  constructor(store: ClusterStore, { maxReadMs = MAX_READ_MS }: { readonly maxReadMs?: number } = {}) {
    this.#store = store;
    this.#maxReadMs = maxReadMs;
  }

  /** If the store does not answer in time, returns only `rookery.cluster.up` with the value 0. Never rejects. */
  async collect(): Promise<readonly MetricFamily[]> {
    if (this.#kept !== undefined && performance.now() - this.#kept.at < CACHE_MS) return this.#kept.families;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, this.#maxReadMs, undefined).unref();
    });
    const families = await Promise.race([this.#reading.catch(() => undefined), tooLate]);
    clearTimeout(timer);
    return families ?? [describeUp(0)];
  }

  async #read(): Promise<readonly MetricFamily[]> {
    const [tasks, sessions, [oldest], workers] = await Promise.all([
      this.#store.countTasks(),
      this.#store.countSessions(),
      this.#store.tasks({ phases: ["queued"], order: "oldest_first", limit: 1 }),
      this.#store.workers(),
    ]);
    const age = oldest === undefined ? 0 : Math.max(0, Date.now() - Date.parse(oldest.updatedAt)) / 1000;
    const families: MetricFamily[] = [
      describeUp(1),
      { name: "rookery.tasks", type: "gauge", help: "Tasks in the store, by phase.", points: toPoints("phase", tasks) },
      {
        name: "rookery.sessions",
        type: "gauge",
        help: "Sessions in the store, by status.",
        points: toPoints("status", sessions),
      },
      {
        name: "rookery.workers",
        type: "gauge",
        help: "Workers of all hosts, by status. A lost worker has not renewed its record.",
        points: toPoints("status", countWorkers(workers)),
      },
      {
        name: "rookery.queue.age",
        unit: "s",
        type: "gauge",
        help: "When the oldest queued task was queued. 0 if none is queued.",
        points: [{ labels: {}, value: age }],
      },
    ];
    this.#kept = { at: performance.now(), families };
    return families;
  }
}

function countWorkers(workers: readonly StoredWorker[]): Record<WorkerStatus, number> {
  const counts: Record<WorkerStatus, number> = { ready: 0, draining: 0, stopping: 0, stopped: 0, lost: 0 };
  for (const worker of workers) counts[workerStatus(worker, Date.now())] += 1;
  return counts;
}

function describeUp(value: 0 | 1): MetricFamily {
  const help = "Whether the store answered when the figures of the cluster were read.";
  return { name: "rookery.cluster.up", type: "gauge", help, points: [{ labels: {}, value }] };
}

function toPoints(label: string, counts: Readonly<Record<string, number>>): NumberPoint[] {
  return Object.entries(counts).map(([value, count]) => ({ labels: { [label]: value }, value: count }));
}
