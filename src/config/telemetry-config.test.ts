import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { builtEnvironment, temporaryFolder, type TemporaryFolder } from "../testing/index.ts";
import { userConfigFile } from "./home.ts";
import { readTelemetryConfig } from "./telemetry-config.ts";

const BASE = "http://collector.example:4318";

let home: TemporaryFolder;
beforeEach(async () => {
  home = await temporaryFolder();
});
afterEach(() => home[Symbol.asyncDispose]());

const read = (extra: Record<string, string> = {}) => readTelemetryConfig(builtEnvironment({ home: home.path, extra }));

async function configure(text: string): Promise<void> {
  const file = userConfigFile(builtEnvironment({ home: home.path }));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

describe("telemetry", () => {
  it("is off without an endpoint or if it is disabled", async () => {
    expect(await read()).toBeUndefined();
    expect(await read({ OTEL_SERVICE_NAME: "a", OTEL_EXPORTER_OTLP_ENDPOINT: "" })).toBeUndefined();
    expect(await read({ OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_SDK_DISABLED: "true" })).toBeUndefined();
    const none = { OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" };
    expect(await read({ OTEL_EXPORTER_OTLP_ENDPOINT: BASE, ...none })).toBeUndefined();
    await configure("[telemetry]\ncontent = true\n");
    expect(await read()).toBeUndefined();
  });

  it("follows the variables of OpenTelemetry", async () => {
    const config = await read({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${BASE}/base/`,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "https://me:p%40ss@metrics.example/push",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%2Cb, x=1",
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: "y=2",
      OTEL_EXPORTER_OTLP_TIMEOUT: "500",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=prod",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_BSP_MAX_QUEUE_SIZE: "100",
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "SPAN_ONLY",
    });
    const common = { timeoutMs: 500, compression: "gzip" };
    expect(config).toEqual({
      traces: { url: `${BASE}/base/v1/traces`, headers: { "api-key": "a,b", x: "1" }, ...common },
      metrics: {
        url: "https://metrics.example/push",
        headers: { authorization: `Basic ${Buffer.from("me:p@ss").toString("base64")}`, y: "2" },
        ...common,
      },
      serviceName: "other",
      resourceAttributes: { "deployment.environment.name": "prod" },
      ...{ content: true, sampleRatio: 0.25, queueSize: 100, batchSize: 100 },
      ...{ spanIntervalMs: 5_000, metricIntervalMs: 60_000, problems: [] },
    });
  });

  it("reads the user's file, and prefers the variables", async () => {
    await configure(`[telemetry]\nendpoint = "${BASE}"\nservice_name = "nest"\nmetrics = false\ncontent = true\n`);
    const config = await read();
    expect(config).toMatchObject({ serviceName: "nest", content: true, traces: { url: `${BASE}/v1/traces` } });
    expect(config?.metrics).toBeUndefined();
    const other = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", OTEL_SERVICE_NAME: "a" };
    expect(await read({ ...other, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "false" })).toMatchObject({
      ...{ serviceName: "a", content: false, traces: { url: "http://127.0.0.1:1/v1/traces" } },
    });
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, /traces are not exported: the endpoint is not an http/],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /not gRPC/],
    [{ OTEL_EXPORTER_OTLP_HEADERS: "secret" }, /a part of OTEL_EXPORTER_OTLP_HEADERS is ignored/],
    [{ OTEL_EXPORTER_OTLP_HEADERS: "key=secret%0d%0ainjected" }, /a part of OTEL_EXPORTER_OTLP_HEADERS is ignored/],
    [{ OTEL_BSP_MAX_QUEUE_SIZE: "-1" }, /OTEL_BSP_MAX_QUEUE_SIZE is ignored/],
    [{ OTEL_TRACES_SAMPLER: "jaeger_remote" }, /OTEL_TRACES_SAMPLER is ignored/],
  ])("names ignored settings without their values: %j", async (extra, message) => {
    const config = await read({ OTEL_EXPORTER_OTLP_ENDPOINT: BASE, ...extra });
    expect(config?.problems.join("\n")).toMatch(message);
    expect(config?.problems.join("\n")).not.toContain("secret");
  });

  it("ignores an endpoint whose user or password cannot be decoded, and does not repeat it", async () => {
    for (const credentials of ["a%:hidden", "a:hidden%zz", "a:hidden%0a"]) {
      const config = await read({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://${credentials}@collector.example` });
      expect(config).toMatchObject({ traces: undefined, metrics: undefined });
      expect(config?.problems).toHaveLength(2);
      expect(JSON.stringify(config)).not.toContain("hidden");
    }
  });

  it("refuses an unknown key of the file", async () => {
    await configure(`[telemetry]\nendpiont = "${BASE}"\n`);
    await expect(read()).rejects.toMatchObject({ code: "config_invalid" });
  });
});
