import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DisposeStack } from "../../stdx/index.ts";
import { Meter } from "../meter.ts";
import { spanIdOf, traceIdOf, type Span } from "../span.ts";
import { MetricExporter } from "./metric-exporter.ts";
import { SpanExporter, type SpanExporterOptions } from "./span-exporter.ts";
import { startCollector, type CollectorAnswer } from "./test-collector.ts";

let owned: DisposeStack;
beforeEach(() => {
  owned = new DisposeStack();
});
afterEach(() => owned[Symbol.asyncDispose]());

const RESOURCE = { attributes: { "service.name": "test" }, scope: { name: "rookery", version: "1" } };

function newSpan(index: number): Span {
  const [start, end] = [1_000, 2_000];
  return {
    ...{ traceId: traceIdOf("root"), spanId: spanIdOf(index), operation: "execute_tool", name: `span ${index}` },
    ...{ kind: "internal", start, end, attributes: { index } },
  };
}

function openExporter(
  url: string,
  more: Partial<SpanExporterOptions> & { compression?: "gzip"; timeoutMs?: number } = {},
) {
  const meter = new Meter();
  const problems: string[] = [];
  const { compression = "none", timeoutMs = 2_000, ...options } = more;
  const exporter = new SpanExporter({
    endpoint: { url: `${url}/v1/traces`, headers: { "x-key": "secret" }, timeoutMs, compression },
    ...{ resource: RESOURCE, queueSize: 10, batchSize: 5, intervalMs: 60_000 },
    counter: meter.counter({ name: "spans", help: "Spans." }),
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  owned.defer(() => exporter.close(0));
  const counts = (): Record<string, number> =>
    Object.fromEntries(
      meter
        .collect()
        .flatMap(({ points }) =>
          points.map((point) => [point.labels["result"] ?? "", "value" in point ? point.value : 0]),
        ),
    );
  return { exporter, counts, problems };
}

const collect = async (...script: CollectorAnswer[]) => owned.use(await startCollector(script));

describe("the exporter of spans", () => {
  it.each(["none", "gzip"] as const)(
    "sends batches, and the rest when it closes (compression: %s)",
    async (compression) => {
      const collector = await collect();
      const { exporter, counts } = openExporter(collector.url, compression === "gzip" ? { compression } : {});
      for (let index = 0; index < 7; index += 1) exporter.add(newSpan(index));
      await collector.arrived(1);
      await exporter.close(2_000);
      expect(collector.faults).toEqual([]);
      expect(collector.spans.map(({ name }) => name)).toEqual([0, 1, 2, 3, 4, 5, 6].map((index) => `span ${index}`));
      expect(collector.requests.map(({ headers }) => headers["content-encoding"] ?? "none")).toEqual([
        compression,
        compression,
      ]);
      expect(counts()).toEqual({ exported: 7 });
    },
  );

  it("sends after the interval if a batch is not full", async () => {
    const collector = await collect();
    const { exporter } = openExporter(collector.url, { intervalMs: 1 });
    exporter.add(newSpan(1));
    await collector.arrived(1);
    expect(collector.requests).toHaveLength(1);
  });

  it("drops spans beyond its queue while the collector hangs, and never makes anyone wait", async () => {
    const collector = await collect("hang", "hang", "hang");
    const { exporter, counts } = openExporter(collector.url);
    for (let index = 0; index < 5; index += 1) exporter.add(newSpan(index));
    await collector.arrived(1);
    const since = performance.now();
    for (let index = 0; index < 1_000; index += 1) exporter.add(newSpan(index));
    expect(performance.now() - since).toBeLessThan(500);
    expect(counts()).toEqual({ dropped: 990 });
    await exporter.close(50);
    expect(performance.now() - since).toBeLessThan(2_000);
    expect(counts()).toEqual({ dropped: 1_000, failed: 5 });
  });

  it("waits as long as a busy collector asks, and sends the same spans again", async () => {
    const collector = await collect({ status: 503, headers: { "retry-after": "1" } }, { status: 429 });
    const { exporter, counts, problems } = openExporter(collector.url, { firstRetryMs: 10 });
    const since = performance.now();
    for (let index = 0; index < 5; index += 1) exporter.add(newSpan(index));
    await collector.arrived(3);
    expect(performance.now() - since).toBeGreaterThan(990);
    await exporter.close(1_000);
    expect(counts()).toEqual({ exported: 5 });
    expect(new Set(collector.requests.map(({ body }) => body)).size).toBe(1);
    expect(problems).toEqual([`traces are not exported: ${collector.url} responded with 503`]);
  });

  it("does not repeat what a collector refuses, and reports it once", async () => {
    const collector = await collect({ status: 400 }, { status: 401 }, { status: 500 });
    const { exporter, counts, problems } = openExporter(collector.url, { batchSize: 1 });
    for (let index = 0; index < 4; index += 1) exporter.add(newSpan(index));
    await collector.arrived(4);
    await exporter.close(1_000);
    expect(counts()).toEqual({ failed: 3, exported: 1 });
    expect(problems).toEqual([`traces are not exported: ${collector.url} responded with 400`]);
  });

  it("counts spans that a collector rejects from a batch", async () => {
    const body = JSON.stringify({ partialSuccess: { rejectedSpans: "2", errorMessage: "too old" } });
    const collector = await collect({ status: 200, body });
    const { exporter, counts, problems } = openExporter(collector.url);
    for (let index = 0; index < 5; index += 1) exporter.add(newSpan(index));
    await collector.arrived(1);
    await exporter.close(1_000);
    expect(counts()).toEqual({ exported: 3, failed: 2 });
    expect(problems).toEqual(["traces are not exported: rejected 2 spans: too old"]);
  });

  it("gives up at close if nothing listens, without naming the headers", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const { exporter, counts, problems } = openExporter(`http://127.0.0.1:${port}`);
    exporter.add(newSpan(1));
    await exporter.close(2_000);
    expect(counts()).toEqual({ failed: 1 });
    expect(problems).toEqual([`traces are not exported: http://127.0.0.1:${port} failed: ECONNREFUSED`]);
    exporter.add(newSpan(2));
    expect(counts()).toEqual({ failed: 1, dropped: 1 });
  });

  it("follows no redirect, which could send its headers elsewhere", async () => {
    const other = await collect();
    const collector = await collect({ status: 307, headers: { location: `${other.url}/v1/traces` } });
    const { exporter } = openExporter(collector.url);
    exporter.add(newSpan(1));
    await exporter.close(1_000);
    expect([collector.requests.length, other.requests.length]).toEqual([1, 0]);
  });
});

it("exports metrics periodically and when it closes, and reports a failure once", async () => {
  const collector = await collect({ status: 503 }, { status: 503 });
  const meter = new Meter();
  meter.gauge({ name: "g", help: "G.", unit: "s" }, () => 2.5);
  meter.histogram({ name: "h", help: "H.", bounds: [1] }).record(3, { a: "b" });
  const problems: string[] = [];
  const exporter = new MetricExporter({
    endpoint: { url: `${collector.url}/v1/metrics`, headers: {}, timeoutMs: 1_000, compression: "none" },
    ...{ resource: RESOURCE, intervalMs: 1, counter: meter.counter({ name: "c", help: "C." }) },
    ...{ collect: () => meter.collect(), onProblem: (problem: string) => problems.push(problem) },
  });
  await collector.arrived(3);
  await exporter.close(1_000, { last: true });
  expect(collector.faults).toEqual([]);
  expect([...collector.metrics.keys()]).toEqual(expect.arrayContaining(["g", "h", "c"]));
  expect(problems).toEqual([`metrics are not exported: ${collector.url} responded with 503`]);
});
