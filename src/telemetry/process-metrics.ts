/** Metrics of the operating system's process: memory, event loop, uptime and child processes. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Meter } from "./meter.ts";

const NANOSECONDS = 1e9;
/** A timer of this period measures the delay, in milliseconds. */
const RESOLUTION_MS = 20;

export interface ProcessMetricsOptions {
  /** Called for each collection. Default: children are not counted. */
  readonly countChildren?: (() => number) | undefined;
}

/** Measures until the result is disposed. */
export function measureProcess(meter: Meter, { countChildren }: ProcessMetricsOptions = {}): Disposable {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  meter.gauge({ name: "rookery.memory.resident", unit: "By", help: "Resident memory of the process." }, () =>
    process.memoryUsage.rss(),
  );
  meter.gauge(
    { name: "rookery.memory.heap", unit: "By", help: "Used heap memory of the process." },
    () => process.memoryUsage().heapUsed,
  );
  meter.gauge({ name: "rookery.uptime", unit: "s", help: "Seconds since the process started." }, () =>
    process.uptime(),
  );
  meter.gauge(
    {
      name: "rookery.event_loop.delay",
      unit: "s",
      help: "Delay of the event loop since the last collection, by percentile.",
    },
    () => {
      const read = (percentile: string, nanoseconds: number) => ({
        labels: { percentile },
        value: Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1000) || 0,
      });
      const points = [read("50", delay.percentile(50)), read("99", delay.percentile(99)), read("100", delay.max)];
      delay.reset();
      return points;
    },
  );
  if (countChildren !== undefined) {
    const help = "Processes of agents, tools and commands that this process started.";
    meter.gauge({ name: "rookery.child_processes", help }, countChildren);
  }
  return { [Symbol.dispose]: () => void delay.disable() };
}
