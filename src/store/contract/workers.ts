/** Contract of worker records: renewals, requests of operators, lost workers, and settings that all agree on. */
import assert from "node:assert/strict";
import type { StoredWorker } from "../../domain/index.ts";
import { AT, storeCase } from "./scene.ts";

export function newWorker(
  id: string,
  more: Partial<Omit<StoredWorker, "request">> = {},
): Omit<StoredWorker, "request"> {
  return {
    id,
    kind: "worker",
    host: "alpha",
    scope: "h1-2-3",
    owner: "h1-2-3.7.9.0a1b2c",
    pid: 7,
    version: "1.2.3",
    startedAt: AT,
    labels: ["gpu"],
    agents: ["coder"],
    unreadyAgents: ["codex"],
    onlyAgents: false,
    mirrors: true,
    maxRunning: 4,
    sessions: 0,
    state: "ready",
    heartbeat: 1_000,
    until: 31_000,
    ...more,
  };
}

export const workerCases = [
  storeCase("lists the records of workers, the oldest first", async (store) => {
    assert.deepEqual(await store.workers(), []);
    assert.equal(await store.saveWorker(newWorker("wrk_1")), undefined);
    await store.saveWorker(newWorker("wrk_2", { host: "beta \0 \ud800", labels: [], until: 5.5 }));
    const [first, second] = await store.workers();
    assert.deepEqual(first, newWorker("wrk_1"));
    assert.deepEqual([second?.id, second?.labels, second?.until], ["wrk_2", [], 5.5]);
  }),

  storeCase("renews a record in place", async (store) => {
    await store.saveWorker(newWorker("wrk_1"));
    const renewed = newWorker("wrk_1", { heartbeat: 2_000, until: 32_000, sessions: 3, state: "draining" });
    await store.saveWorker(renewed);
    assert.deepEqual(await store.workers(), [renewed]);
  }),

  storeCase("returns the request of an operator with each renewal", async (store) => {
    assert.equal(await store.askWorker("wrk_1", "drain"), false);
    await store.saveWorker(newWorker("wrk_1"));
    await store.saveWorker(newWorker("wrk_2"));
    assert.equal(await store.askWorker("wrk_1", "drain"), true);
    assert.equal(await store.saveWorker(newWorker("wrk_1", { heartbeat: 2_000 })), "drain");
    assert.equal(await store.saveWorker(newWorker("wrk_1", { heartbeat: 3_000 })), "drain");
    assert.equal(await store.saveWorker(newWorker("wrk_2")), undefined);
    await store.askWorker("wrk_1", "stop");
    await store.askWorker("wrk_1", "drain"); // a stop is not taken back
    assert.equal(await store.saveWorker(newWorker("wrk_1")), "stop");
    assert.deepEqual(
      (await store.workers()).map(({ request }) => request),
      ["stop", undefined],
    );
  }),

  storeCase("removes records, and deletes those of workers that were lost before a given time", async (store) => {
    for (const [id, until] of [["wrk_1", 10] as const, ["wrk_2", 20] as const, ["wrk_3", 30] as const]) {
      await store.saveWorker(newWorker(id, { until }));
    }
    await store.forgetWorkers(20);
    await store.removeWorker("wrk_3");
    await store.removeWorker("wrk_4");
    assert.deepEqual(
      (await store.workers()).map(({ id }) => id),
      ["wrk_2"],
    );
  }),

  storeCase("keeps the first value of a setting until it is replaced", async (store) => {
    assert.equal(await store.agreeOnSetting({ name: "lease", value: "a" }), "a");
    assert.equal(await store.agreeOnSetting({ name: "lease", value: "b" }), "a");
    assert.equal(await store.agreeOnSetting({ name: "other", value: "c" }), "c");
    assert.equal(await store.agreeOnSetting({ name: "lease", value: "b", replace: true }), "b");
    assert.equal(await store.agreeOnSetting({ name: "lease", value: "a" }), "b");
  }),
];
