/**
 * A collector over a real socket, for tests: checks each request against the messages of opentelemetry-proto 1.7 in
 * their JSON mapping, keeps what it got, and answers as scripted.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { z } from "zod";

const int64 = z.string().regex(/^-?\d+$/);
const traceId = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/);
const spanId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/);

const AnyValue: z.ZodType = z.lazy(() =>
  z
    .strictObject({
      stringValue: z.string(),
      boolValue: z.boolean(),
      intValue: int64,
      doubleValue: z.number(),
      arrayValue: z.strictObject({ values: z.array(AnyValue) }),
      kvlistValue: z.strictObject({ values: z.array(KeyValue) }),
    })
    .partial()
    .refine((value) => Object.keys(value).length <= 1, "more than one value"),
);
const KeyValue = z.lazy(() => z.strictObject({ key: z.string().min(1), value: AnyValue }));
const attributes = z
  .array(KeyValue)
  .refine((pairs) => new Set(pairs.map(({ key }) => key)).size === pairs.length, "an attribute occurs twice");
const resource = z.strictObject({ attributes });
const scope = z.strictObject({ name: z.string(), version: z.string() });

const SpanMessage = z
  .strictObject({
    traceId,
    spanId,
    parentSpanId: spanId.optional(),
    flags: z.int().nonnegative(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: int64,
    endTimeUnixNano: int64,
    attributes,
    status: z.strictObject({ code: z.int().min(0).max(2).optional(), message: z.string().optional() }),
  })
  .refine((span) => BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano), "a span ends before it starts");

const TraceRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource,
      scopeSpans: z.array(z.strictObject({ scope, spans: z.array(SpanMessage), schemaUrl: z.url() })),
      schemaUrl: z.url(),
    }),
  ),
});

const time = { startTimeUnixNano: int64, timeUnixNano: int64 };
const numberPoint = { attributes, asDouble: z.number() };
const metric = { name: z.string().min(1), description: z.string(), unit: z.string() };
const MetricMessage = z.union([
  z.strictObject({
    ...metric,
    sum: z.strictObject({
      dataPoints: z.array(z.strictObject({ ...numberPoint, ...time })),
      aggregationTemporality: z.literal(2),
      isMonotonic: z.literal(true),
    }),
  }),
  z.strictObject({
    ...metric,
    gauge: z.strictObject({ dataPoints: z.array(z.strictObject({ ...numberPoint, timeUnixNano: int64 })) }),
  }),
  z.strictObject({
    ...metric,
    histogram: z.strictObject({
      dataPoints: z.array(
        z
          .strictObject({
            ...time,
            attributes,
            count: int64,
            sum: z.number(),
            bucketCounts: z.array(int64),
            explicitBounds: z.array(z.number()),
          })
          .refine(({ bucketCounts, explicitBounds }) => bucketCounts.length === explicitBounds.length + 1, "buckets"),
      ),
      aggregationTemporality: z.literal(2),
    }),
  }),
]);
const MetricRequest = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({
      resource,
      scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(MetricMessage), schemaUrl: z.url() })),
      schemaUrl: z.url(),
    }),
  ),
});

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: number;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number | undefined; readonly message?: string | undefined };
}

/** `hang`: accepts the request and never responds. */
export type CollectorAnswer =
  { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string } | "hang";

export interface TestCollector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  readonly metrics: ReadonlyMap<string, unknown>;
  readonly resources: readonly Readonly<Record<string, unknown>>[];
  readonly requests: readonly {
    readonly path: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: string;
  }[];
  /** Problems of the requests that arrived. */
  readonly faults: readonly string[];
  /** Resolves when this number of requests has arrived. */
  arrived(count: number): Promise<void>;
}

/** Answers the first requests as scripted, and then with 200. */
export async function startCollector(script: readonly CollectorAnswer[] = []): Promise<TestCollector> {
  const answers = [...script];
  const spans: CollectedSpan[] = [];
  const metrics = new Map<string, unknown>();
  const resources: Record<string, unknown>[] = [];
  const requests: { path: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  const faults: string[] = [];
  const waiters = new Set<() => void>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const body = (request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw).toString();
    const path = request.url ?? "";
    requests.push({ path, headers: request.headers, body });
    for (const wake of waiters) wake();
    const answer = answers.shift() ?? { status: 200 };
    if (answer === "hang") return;
    if (request.headers["content-type"] !== "application/json") faults.push("the content type is not JSON");
    if (answer.status === 200) keep(path, body);
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(answer.body ?? "{}");
  };
  const keep = (path: string, body: string): void => {
    const parsed =
      path === "/v1/metrics" ? MetricRequest.safeParse(JSON.parse(body)) : TraceRequest.safeParse(JSON.parse(body));
    if (!parsed.success) return void faults.push(z.prettifyError(parsed.error));
    if ("resourceSpans" in parsed.data) {
      for (const { resource: of, scopeSpans } of parsed.data.resourceSpans) {
        resources.push(toRecord(of.attributes));
        for (const span of scopeSpans.flatMap((group) => group.spans)) spans.push(toCollected(span));
      }
      return;
    }
    for (const { resource: of, scopeMetrics } of parsed.data.resourceMetrics) {
      resources.push(toRecord(of.attributes));
      for (const one of scopeMetrics.flatMap((group) => group.metrics)) metrics.set(one.name, one);
    }
  };
  const server = createServer(
    (request, response) => void handle(request, response).catch((error: unknown) => faults.push(String(error))),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ spans, metrics, resources, requests, faults },
    arrived: async (count) => {
      while (requests.length < count) await new Promise<void>((resolve) => waiters.add(resolve));
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function toCollected(span: z.infer<typeof SpanMessage>): CollectedSpan {
  const { startTimeUnixNano, endTimeUnixNano, attributes: pairs, ...rest } = span;
  return {
    ...rest,
    start: Number(BigInt(startTimeUnixNano) / 1_000_000n),
    end: Number(BigInt(endTimeUnixNano) / 1_000_000n),
    attributes: toRecord(pairs),
  };
}

function toRecord(pairs: readonly { readonly key: string; readonly value: unknown }[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, toPlain(value as Record<string, unknown>)]));
}

function toPlain(value: Record<string, unknown>): unknown {
  const [[kind, inner] = []] = Object.entries(value);
  if (kind === "intValue") return Number(inner);
  if (kind === "arrayValue") return (inner as { values: Record<string, unknown>[] }).values.map(toPlain);
  if (kind === "kvlistValue") return toRecord((inner as { values: { key: string; value: unknown }[] }).values);
  return inner;
}
