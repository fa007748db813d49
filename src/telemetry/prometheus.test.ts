import { describe, expect, it } from "vitest";
import type { WorkerRecord } from "../domain/index.ts";
import { ClusterMetrics } from "./cluster-metrics.ts";
import { Meter } from "./meter.ts";
import { formatPrometheus } from "./prometheus.ts";
import { parseExposition } from "./test-exposition.ts";
import { openMemoryStore } from "../store/index.ts";

describe("the text for Prometheus", () => {
  it("has counters, gauges and histograms with names in base units", () => {
    const meter = new Meter();
    meter.counter({ name: "a.calls", help: "Calls." }).add({ code: "x" }, 3);
    meter.counter({ name: "a.sent", unit: "By", help: "Bytes." }).add({}, 7);
    meter.gauge({ name: "a.age", unit: "s", help: "Age." }, () => 1.5);
    const histogram = meter.histogram({ name: "a.wait", unit: "s", help: "Wait.", bounds: [0.1, 1] });
    for (const seconds of [0.05, 0.1, 0.5, 9]) histogram.record(seconds, { of: "b" });
    const families = parseExposition(formatPrometheus(meter.collect()));
    expect([...families.keys()]).toEqual(["a_calls_total", "a_sent_bytes_total", "a_age_seconds", "a_wait_seconds"]);
    expect(families.get("a_calls_total")?.samples).toEqual([
      { name: "a_calls_total", labels: { code: "x" }, value: 3 },
    ]);
    const samples = families.get("a_wait_seconds")?.samples.map(({ labels, value }) => [labels["le"], value]);
    expect(samples).toEqual([["0.1", 2], ["1", 3], ["+Inf", 4], [undefined, 9.65], [undefined, 4]]); // prettier-ignore
  });

  it("keeps any text in labels and help", () => {
    const meter = new Meter();
    const odd = 'a\\b"c\nd{},= ';
    meter.counter({ name: "odd-name!", help: `help\\with\nlines` }).add({ "label.name": odd });
    const [family] = parseExposition(formatPrometheus(meter.collect())).values();
    expect(family?.samples[0]?.labels).toEqual({ label_name: odd });
  });

  it("cuts long label values, which may come from a program", () => {
    const meter = new Meter();
    const histogram = meter.histogram({ name: "calls", help: "Calls.", bounds: [1] });
    for (let index = 0; index < 600; index += 1) histogram.record(1, { tool: `${index} ${"x".repeat(100_000)}` });
    expect(formatPrometheus(meter.collect()).length).toBeLessThan(600 * 5 * 300);
  });

  it("adds up series beyond the limit under one label value", () => {
    const meter = new Meter();
    const counter = meter.counter({ name: "many", help: "Many." });
    for (let index = 0; index < 2_000; index += 1) counter.add({ tool: `tool ${index}` });
    const samples = parseExposition(formatPrometheus(meter.collect())).get("many_total")?.samples ?? [];
    expect(samples).toHaveLength(501);
    expect(samples.at(-1)).toMatchObject({ labels: { tool: "other" }, value: 1_500 });
  });
});

const WORKER: Omit<WorkerRecord, "id"> = {
  kind: "worker",
  ...{ host: "h", scope: "s", owner: "o", pid: 1, version: "1", startedAt: "2026-01-01T00:00:00.000Z" },
  ...{ labels: [], agents: [], unreadyAgents: [], onlyAgents: false, mirrors: false, maxRunning: 1, sessions: 0 },
  state: "ready",
};

describe("metrics of the cluster", () => {
  it("are the figures of the store", async () => {
    await using store = openMemoryStore();
    const now = Date.now();
    for (const [id, until] of [
      ["w1", now + 60_000],
      ["w2", now - 1],
    ] as const) {
      // prettier-ignore
      await store.saveWorker({ ...WORKER, id, heartbeat: now - 10_000, until });
    }
    const families = parseExposition(formatPrometheus(await new ClusterMetrics(store).collect()));
    const workers = families.get("rookery_workers")?.samples.map(({ labels, value }) => [labels["status"], value]);
    expect(workers).toEqual([["ready", 1], ["draining", 0], ["stopping", 0], ["stopped", 0], ["lost", 1]]); // prettier-ignore
    expect(families.get("rookery_cluster_up")?.samples[0]?.value).toBe(1);
    expect(families.get("rookery_sessions")?.samples).toContainEqual({
      name: "rookery_sessions",
      labels: { status: "idle" },
      value: 0,
    });
    expect(families.get("rookery_queue_age_seconds")?.samples[0]?.value).toBe(0);
  });

  it("are left out if the store fails or is slow, and the slow read is not repeated meanwhile", async () => {
    const store = openMemoryStore();
    let calls = 0;
    const never = () => {
      calls += 1;
      return new Promise<never>(() => undefined);
    };
    const slow = new ClusterMetrics({ ...store, countSessions: never }, { maxReadMs: 1 });
    for (const _ of [1, 2]) expect(formatPrometheus(await slow.collect())).toContain("rookery_cluster_up 0\n");
    expect(calls).toBe(1);
    await store[Symbol.asyncDispose]();
    expect(formatPrometheus(await new ClusterMetrics(store).collect())).toContain("rookery_cluster_up 0\n");
  });
});
