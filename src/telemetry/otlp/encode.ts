/**
 * Encodes spans and metrics as OTLP/JSON (opentelemetry-proto 1.7): the JSON mapping of Protocol Buffers, except that ids
 * are hexadecimal and enums are numbers. 64-bit integers are text.
 */
import { SCHEMA_URL } from "../genai.ts";
import type { HistogramPoint, MetricFamily, MetricLabels, NumberPoint } from "../meter.ts";
import type { Span, SpanAttributes } from "../span.ts";

/** Describes the process in every request. */
export interface OtlpResource {
  readonly attributes: SpanAttributes;
  readonly scope: { readonly name: string; readonly version: string };
}

export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values: readonly KeyValue[] };
}

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

const SPAN_KINDS = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
/** The flag of a sampled trace. */
const FLAG_SAMPLED = 1;
const CUMULATIVE = 2;

export function encodeSpans(spans: readonly Span[], resource: OtlpResource): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(resource.attributes) },
        scopeSpans: [{ scope: resource.scope, spans: spans.map(encodeSpan), schemaUrl: SCHEMA_URL }],
        schemaUrl: SCHEMA_URL,
      },
    ],
  });
}

function encodeSpan({ traceId, spanId, parentSpanId, name, kind, start, end, attributes, error }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    flags: FLAG_SAMPLED,
    name,
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: toNanoseconds(start),
    endTimeUnixNano: toNanoseconds(end),
    attributes: encodeAttributes({ ...attributes, ...(error !== undefined && { "error.type": error.type }) }),
    status:
      error === undefined ? {} : { code: STATUS_ERROR, ...(error.message !== undefined && { message: error.message }) },
  };
}

export interface MetricTimes {
  /** When counting started. Milliseconds since the epoch. */
  readonly start: number;
  readonly now: number;
}

export function encodeMetrics(families: readonly MetricFamily[], resource: OtlpResource, times: MetricTimes): string {
  const metrics = families.filter(({ points }) => points.length > 0).map((family) => encodeMetric(family, times));
  return JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: encodeAttributes(resource.attributes) },
        scopeMetrics: [{ scope: resource.scope, metrics, schemaUrl: SCHEMA_URL }],
        schemaUrl: SCHEMA_URL,
      },
    ],
  });
}

function encodeMetric(family: MetricFamily, times: MetricTimes): object {
  const { name, help: description, unit = "1" } = family;
  const head = { name, description, unit };
  const time = { startTimeUnixNano: toNanoseconds(times.start), timeUnixNano: toNanoseconds(times.now) };
  switch (family.type) {
    case "counter": {
      const dataPoints = family.points.map((point) => ({ ...time, ...encodeNumber(point) }));
      return { ...head, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } };
    }
    case "gauge":
      return {
        ...head,
        gauge: {
          dataPoints: family.points.map((point) => ({ timeUnixNano: time.timeUnixNano, ...encodeNumber(point) })),
        },
      };
    case "histogram": {
      const dataPoints = family.points.map((point) => ({ ...time, ...encodeHistogram(point, family.bounds) }));
      return { ...head, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
    }
  }
}

function encodeNumber({ labels, value }: NumberPoint): object {
  return { attributes: encodeLabels(labels), asDouble: value };
}

function encodeHistogram({ labels, counts, sum, count }: HistogramPoint, bounds: readonly number[]): object {
  return {
    attributes: encodeLabels(labels),
    count: String(count),
    sum,
    bucketCounts: counts.map(String),
    explicitBounds: bounds,
  };
}

function encodeLabels(labels: MetricLabels): KeyValue[] {
  return encodeAttributes(labels);
}

/** Leaves out attributes that are undefined. */
export function encodeAttributes(attributes: SpanAttributes): KeyValue[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: encodeValue(value) }],
  );
}

function encodeValue(value: unknown): AnyValue {
  switch (typeof value) {
    case "string":
      return { stringValue: value };
    case "boolean":
      return { boolValue: value };
    case "number":
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    case "object": {
      if (value === null) return {};
      if (Array.isArray(value)) return { arrayValue: { values: value.map(encodeValue) } };
      return { kvlistValue: { values: encodeAttributes(value as SpanAttributes) } };
    }
    default:
      return {}; // JSON has no other types
  }
}

function toNanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms)) * 1_000_000n);
}
