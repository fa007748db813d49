/** Starts the measurements of a process, and their export to a collector of OpenTelemetry if one is configured. */
import { hostname } from "node:os";
import packageJson from "../../package.json" with { type: "json" };
import type { Store } from "../domain/index.ts";
import type { MetricFamily } from "./meter.ts";
import type { OtlpResource } from "./otlp/encode.ts";
import type { OtlpEndpoint } from "./otlp/send.ts";
import { ProcessTelemetry } from "./process-telemetry.ts";
import type { Span } from "./span.ts";

/** Where and how to export. */
export interface OtlpOptions {
  readonly traces?: OtlpEndpoint | undefined;
  readonly metrics?: OtlpEndpoint | undefined;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  /** Whether spans contain prompts, replies, arguments and results. */
  readonly content: boolean;
  /** The share of traces that are exported, from 0 to 1. */
  readonly sampleRatio: number;
  readonly queueSize: number;
  readonly batchSize: number;
  readonly spanIntervalMs: number;
  readonly metricIntervalMs: number;
}

export interface TelemetryOptions {
  readonly store: Store;
  readonly countChildren: () => number;
  /** Undefined to export nothing. */
  readonly otlp?: OtlpOptions | undefined;
  /** Called with a sentence, once per outage of the collector. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

export interface Telemetry extends AsyncDisposable {
  /** Use it instead of the store that was passed in. */
  readonly store: Store;
  /** The metrics of this process. */
  collect(): readonly MetricFamily[];
  /** Exports what is left, for at most two seconds. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** How long the end of a process waits for the collector, in milliseconds. */
const CLOSE_MS = 2_000;

export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { store, countChildren, otlp, onProblem = () => undefined } = options;
  let onSpan: (span: Span) => void = () => undefined;
  const measured = new ProcessTelemetry({
    store,
    countChildren,
    content: otlp?.content,
    onSpan: (span) => onSpan(span),
  });
  const exporters = otlp === undefined ? undefined : await openExporters(measured, { ...options, otlp, onProblem });
  if (exporters !== undefined) onSpan = exporters.onSpan;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await measured.settled();
    await exporters?.close(measured.hasWorked); // a command that only reads does not wait for the collector
    measured[Symbol.dispose]();
  };
  return {
    store: measured.store,
    collect: () => measured.meter.collect(),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

async function openExporters(
  { meter }: ProcessTelemetry,
  { otlp, onProblem }: TelemetryOptions & { readonly otlp: OtlpOptions; readonly onProblem: (message: string) => void },
): Promise<{ readonly onSpan: (span: Span) => void; close(last: boolean): Promise<void> }> {
  const { traces, metrics, queueSize, batchSize, sampleRatio } = otlp;
  const resource = describeProcess(otlp);
  const [{ SpanExporter }, { MetricExporter }] = await Promise.all([
    import("./otlp/span-exporter.ts"),
    import("./otlp/metric-exporter.ts"),
  ]);
  const spanCounter = meter.counter({ name: "rookery.otlp.spans", help: "Spans for the collector, by result." });
  const exportCounter = meter.counter({ name: "rookery.otlp.exports", help: "Exports of metrics, by result." });
  const spans =
    traces &&
    new SpanExporter({
      ...{ endpoint: traces, resource, queueSize, batchSize, onProblem },
      ...{ intervalMs: otlp.spanIntervalMs, counter: spanCounter },
    });
  const figures =
    metrics &&
    new MetricExporter({
      ...{ endpoint: metrics, resource, intervalMs: otlp.metricIntervalMs, counter: exportCounter },
      ...{ collect: () => meter.collect(), onProblem },
    });
  return {
    onSpan: (span) => {
      if (isSampled(span.traceId, sampleRatio)) spans?.add(span);
    },
    async close(last) {
      await Promise.all([spans?.close(CLOSE_MS), figures?.close(CLOSE_MS, { last })]);
    },
  };
}

/** The same for every process: a trace is exported completely or not at all. */
function isSampled(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32;
}

function describeProcess({ serviceName, resourceAttributes }: OtlpOptions): OtlpResource {
  const { version } = packageJson;
  const host = hostname();
  return {
    attributes: {
      "service.version": version,
      "service.instance.id": `${host}:${process.pid}`,
      "host.name": host,
      "process.pid": process.pid,
      "telemetry.sdk.name": "rookery",
      "telemetry.sdk.language": "nodejs",
      "telemetry.sdk.version": version,
      ...resourceAttributes,
      "service.name": serviceName,
    },
    scope: { name: "rookery", version },
  };
}
