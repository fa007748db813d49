/** Counts the requests of the HTTP server. */
import { Meter, type Counter, type Histogram } from "../../telemetry/index.ts";

/** Upper bounds of the histogram buckets, in seconds. */
const BOUNDS = [0.005, 0.02, 0.1, 0.5, 2, 10];

export class Metrics {
  readonly meter = new Meter();
  readonly #requests: Counter;
  readonly #durations: Histogram;

  constructor() {
    this.#requests = this.meter.counter({
      name: "rookery.http.requests",
      help: "HTTP requests, by method, route and status.",
    });
    this.#durations = this.meter.histogram({
      name: "rookery.http.request.duration",
      unit: "s",
      help: "Duration of HTTP requests; for streams, until they end.",
      bounds: BOUNDS,
    });
  }

  countRequest(method: string, route: string, status: number, seconds: number): void {
    this.#requests.add({ method, route, status: String(status) });
    this.#durations.record(seconds, { method, route });
  }
}
