import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Candidate, Store } from "../../domain/index.ts";
import { createTask, numbers, appendTaskEvents } from "../contract/scene.ts";
import { claimNextTask } from "./claims.ts";
import { openStoreProcesses, type StoreProcesses } from "./fixtures/processes.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { explainQueries, QueryRecorder } from "./fixtures/plans.ts";
import { openSqliteStore } from "./open.ts";

const newPath = databasePaths();
const NOW = Date.parse("2026-01-02T03:04:05.678Z");
let processes: StoreProcesses;

beforeAll(async () => {
  processes = await openStoreProcesses();
});
afterAll(() => processes[Symbol.dispose]());

describe("claims from a SQLite store", () => {
  it("of several processes take each of 200 tasks once and respect the limit", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await Promise.all(
      numbers(1, 200).map((number) => createTask(store, `t${number}`, { repository: `/${number % 3}` })),
    );
    const claimers = numbers(1, 4).map((number) =>
      processes.start("claim", { path, owner: `owner-${number}`, limit: 3 }),
    );
    for (const claimer of claimers) expect(await claimer.nextMessage()).toBe("ready");
    for (const claimer of claimers) claimer.sendLine("go");
    const reports = (await Promise.all(claimers.map((claimer) => claimer.nextMessage()))) as { taken: string[] }[];
    expect(await Promise.all(claimers.map(({ exited }) => exited))).toEqual([0, 0, 0, 0]);

    const taken = reports.flatMap((report) => report.taken);
    expect(taken.sort()).toEqual(
      numbers(1, 200)
        .map((number) => `t${number}`)
        .sort(),
    );
    expect(await store.countTasks()).toMatchObject({ done: 200, queued: 0 });
    const running = await runningAtOnce(store);
    expect(Math.max(...running)).toBe(3);
    expect(running).toHaveLength(400); // each task started once and ended once
  }, 60_000);

  it("of a killed process leave a lease that another process can supersede", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await createTask(store, "a");
    const claimer = processes.start("claim", { path, owner: "dead", limit: 1, holds: true });
    expect(await claimer.nextMessage()).toBe("ready");
    claimer.sendLine("go");
    expect(await claimer.nextMessage()).toEqual({ taken: ["a"] });
    await claimer.kill();

    const mine = { sessionId: "a", owner: "me", now: NOW, until: NOW + 1_000 };
    const left = await store.currentLease("a");
    expect(left).toMatchObject({ owner: "dead", generation: 1 });
    expect(await store.task("a")).toMatchObject({ phase: "preparing", owner: "dead" });
    await expect(store.acquireLease(mine)).rejects.toMatchObject({ code: "session_in_use" });
    const lease = await store.acquireLease({ ...mine, supersede: 1 });
    await appendTaskEvents(store, "a", { type: "task.queued", why: "interrupted" });
    await store.releaseLease(lease);
    const claimed = await store.claimTask({ ...mine, choose: ([first]) => first?.id });
    expect(claimed).toMatchObject({ lease: { owner: "me", generation: 3 }, state: { runs: 2 } });
  });

  it("read one task per lane, not the 10,000 behind them", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await createTask(store, "root", { repository: "/root", priority: -5 });
    await Promise.all(
      numbers(1, 10_000).map((number) =>
        createTask(store, `t${number}`, { repository: `/${number % 4}`, needs: number % 2 === 0 ? ["root"] : [] }),
      ),
    );
    const db = new QueryRecorder(new Libsql(path), path);
    let seen: readonly Candidate[] = [];
    const choose = (candidates: readonly Candidate[]) => (seen = candidates)[0]?.id;
    const taken = db.transaction(() => claimNextTask(db, { owner: "me", now: NOW, until: NOW + 1, choose }));
    expect(seen.map(({ id }) => id).sort()).toEqual(["root", "t1", "t3"]); // tasks with an even number need the root
    expect(taken?.state.phase).toBe("preparing");
    expect(db.queries.length).toBeLessThan(30);
    expect(explainQueries(db).join("\n")).not.toMatch(/SCAN (task|need|lease|feed|event)|TEMP B-TREE/);
    db.close();
  });
});

/** The number of running tasks after each start and end, in commit order. */
async function runningAtOnce(store: Store): Promise<number[]> {
  const counts: number[] = [];
  let running = 0;
  const { events } = await store.readFeed({ after: 0, limit: 10_000 });
  for (const { text } of events) {
    const { type } = JSON.parse(text) as { type: string };
    if (type === "task.created") continue;
    running += type === "task.started" ? 1 : -1;
    counts.push(running);
  }
  return counts;
}
