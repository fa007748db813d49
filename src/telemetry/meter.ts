/** Metrics of one process: counters, gauges and histograms, each with a bounded number of series. */
import { cutText } from "./cut-text.ts";

export type MetricLabels = Readonly<Record<string, string>>;

export interface MetricDescription {
  /** Dotted, as in OpenTelemetry: `rookery.append.duration`. `formatPrometheus` derives the name for Prometheus. */
  readonly name: string;
  readonly help: string;
  /** Seconds or bytes. Default: a number without a unit. */
  readonly unit?: "s" | "By" | undefined;
}

export interface NumberPoint {
  readonly labels: MetricLabels;
  readonly value: number;
}

export interface HistogramPoint {
  readonly labels: MetricLabels;
  /**
   * Counts per bucket, not cumulative. There is one more bucket than bounds, because the last one has no upper bound.
   */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

/** A metric with all its series at one time. */
export type MetricFamily = MetricDescription &
  (
    | { readonly type: "counter" | "gauge"; readonly points: readonly NumberPoint[] }
    | { readonly type: "histogram"; readonly bounds: readonly number[]; readonly points: readonly HistogramPoint[] }
  );

export interface Counter {
  /** Default of `amount`: 1. */
  add(labels?: MetricLabels, amount?: number): void;
}

export interface Histogram {
  record(value: number, labels?: MetricLabels): void;
}

/** Values that are read when metrics are collected. */
export type GaugeReading = number | readonly NumberPoint[];

/** Beyond this number of series per metric, further ones are added up under the label value `other`. */
const MAX_SERIES = 500;
/** Names of tools, agents and models may come from a program. Longer label values are cut. In characters. */
const MAX_LABEL_LENGTH = 128;
/** Upper bounds in seconds, from a local commit to a long request. */
export const DURATION_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class Meter {
  readonly #sources: (() => MetricFamily)[] = [];

  counter(description: MetricDescription): Counter {
    const series = new SeriesMap<{ value: number }>(() => ({ value: 0 }));
    this.#sources.push(() => ({
      ...description,
      type: "counter",
      points: series.map((labels, { value }) => ({ labels, value })),
    }));
    return {
      add(labels = {}, amount = 1) {
        series.get(labels).value += amount;
      },
    };
  }

  histogram({ bounds, ...description }: MetricDescription & { readonly bounds: readonly number[] }): Histogram {
    const series = new SeriesMap(() => ({ counts: [...bounds.map(() => 0), 0], sum: 0, count: 0 }));
    this.#sources.push(() => ({
      ...description,
      type: "histogram",
      bounds,
      points: series.map((labels, { counts, sum, count }) => ({ labels, counts: [...counts], sum, count })),
    }));
    return {
      record(value, labels = {}) {
        const found = series.get(labels);
        const bucket = bounds.findIndex((bound) => value <= bound);
        const index = bucket === -1 ? bounds.length : bucket;
        found.counts[index] = (found.counts[index] ?? 0) + 1;
        found.sum += value;
        found.count += 1;
      },
    };
  }

  gauge(description: MetricDescription, read: () => GaugeReading): void {
    this.#addReading("gauge", description, read);
  }

  /** A counter whose total is kept elsewhere. */
  observedCounter(description: MetricDescription, read: () => GaugeReading): void {
    this.#addReading("counter", description, read);
  }

  collect(): MetricFamily[] {
    return this.#sources.map((read) => read());
  }

  #addReading(type: "counter" | "gauge", description: MetricDescription, read: () => GaugeReading): void {
    this.#sources.push(() => {
      const reading = read();
      return { ...description, type, points: typeof reading === "number" ? [{ labels: {}, value: reading }] : reading };
    });
  }
}

class SeriesMap<State> {
  readonly #create: () => State;
  readonly #series = new Map<string, { readonly labels: MetricLabels; readonly state: State }>();

  constructor(create: () => State) {
    this.#create = create;
  }

  get(given: MetricLabels): State {
    const labels = boundLabels(given);
    const found = this.#series.get(toKey(labels));
    if (found !== undefined) return found.state;
    const kept = this.#series.size < MAX_SERIES ? labels : toOther(labels);
    const key = toKey(kept);
    const series = this.#series.get(key) ?? { labels: kept, state: this.#create() };
    this.#series.set(key, series);
    return series.state;
  }

  map<T>(convert: (labels: MetricLabels, state: State) => T): T[] {
    return Array.from(this.#series.values(), ({ labels, state }) => convert(labels, state));
  }
}

function boundLabels(labels: MetricLabels): MetricLabels {
  if (Object.values(labels).every(({ length }) => length <= MAX_LABEL_LENGTH)) return labels;
  return Object.fromEntries(Object.entries(labels).map(([name, text]) => [name, cutText(text, MAX_LABEL_LENGTH)]));
}

function toKey(labels: MetricLabels): string {
  return JSON.stringify(labels);
}

function toOther(labels: MetricLabels): MetricLabels {
  return Object.fromEntries(Object.keys(labels).map((name) => [name, "other"]));
}
