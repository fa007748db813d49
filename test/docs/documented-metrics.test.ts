import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openHttp } from "../../src/server/http/test-scene.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { openTelemetry } from "../../src/telemetry/index.ts";
import { parseExposition } from "../../src/telemetry/test-exposition.ts";
import { formatPrometheus } from "../../src/telemetry/prometheus.ts";
import { ROOT } from "./documents.ts";

it("the page about operations names every metric, and only metrics that exist", async () => {
  await using scene = await openHttp();
  await using store = openMemoryStore();
  const endpoint = { url: "http://127.0.0.1:9", headers: {}, timeoutMs: 1, compression: "none" } as const;
  await using telemetry = await openTelemetry({
    store,
    countChildren: () => 0,
    otlp: {
      ...{ traces: endpoint, metrics: endpoint, serviceName: "s", resourceAttributes: {}, content: false },
      ...{ sampleRatio: 1, queueSize: 1, batchSize: 1, spanIntervalMs: 60_000, metricIntervalMs: 60_000 },
    },
  });
  const { text } = await scene.get("/metrics");
  const names = [...parseExposition(text).keys(), ...parseExposition(formatPrometheus(telemetry.collect())).keys()];
  const page = readFileSync(`${ROOT}docs/operations.md`, "utf8");
  const documented = page.match(/`(?:rookery|gen_ai)_[a-z_]+(?=[`{])/g)?.map((quoted) => quoted.slice(1)) ?? [];
  expect([...new Set(documented)].sort()).toEqual([...new Set(names)].sort());
});
