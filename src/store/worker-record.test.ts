import { expect, it } from "vitest";
import { buildWorkerViews } from "../domain/index.ts";
import { WorkerListSchema } from "../server/http/schema/worker.ts";
import { newWorker } from "./contract/workers.ts";
import { parseStoredWorker, type WorkerRow } from "./worker-record.ts";

const { heartbeat: _, until: __, ...RECORD } = newWorker("wrk_1");
const WRONG = [null, undefined, 5, -1, 1.5, "x", "x".repeat(100_000), true, [], [null, {}, 5], {}, "__proto__"];
const TIMES = [null, undefined, "5", Number.NaN, Infinity, -Infinity, 1e300, 8_640_000_000_000_001, -1, 0];

function* damagedRows(): Generator<WorkerRow> {
  const row = { heartbeat: 1_000, until: 2_000, request: null };
  for (const record of [undefined, "", "null", "5", "[]", "{}", '"x"', "[".repeat(50_000)]) yield { ...row, record };
  for (const key of Object.keys(RECORD)) {
    for (const value of WRONG) yield { ...row, record: JSON.stringify({ ...RECORD, [key]: value }) };
  }
  for (const time of TIMES) {
    yield { ...row, record: JSON.stringify(RECORD), heartbeat: time };
    yield { ...row, record: JSON.stringify(RECORD), until: time };
  }
  yield { ...row, record: JSON.stringify(RECORD), request: "explode" };
}

it("keeps every list of workers valid, whatever one damaged record contains", () => {
  for (const row of damagedRows()) {
    const worker = parseStoredWorker(row);
    const views = buildWorkerViews(worker === undefined ? [] : [worker], [], 1_500);
    expect(WorkerListSchema.safeParse({ workers: views }).error, JSON.stringify(row).slice(0, 300)).toBeUndefined();
    expect(JSON.stringify(views).length).toBeLessThan(10_000);
  }
});

it("takes a worker in a state of a newer version for one that takes nothing new", () => {
  const record = JSON.stringify({ ...RECORD, kind: "scheduler", state: "paused", more: 1 });
  const worker = parseStoredWorker({ record, heartbeat: 1_000, until: 2_000, request: "reboot" });
  expect(worker).toEqual({ ...RECORD, kind: "worker", state: "draining", heartbeat: 1_000, until: 2_000 });
});
