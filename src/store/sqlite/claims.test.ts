import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Candidate, Store } from "../../domain/index.ts";
import { createTask, numbers, tell } from "../contract/scene.ts";
import { claim } from "./claims.ts";
import { openNursery, type Nursery } from "./fixtures/children.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { plansOf, Recorded } from "./fixtures/plans.ts";
import { openSqliteStore } from "./open.ts";

const newPath = databasePaths();
const NOW = Date.parse("2026-01-02T03:04:05.678Z");
let nursery: Nursery;

beforeAll(async () => {
  nursery = await openNursery();
});
afterAll(() => nursery[Symbol.dispose]());

describe("claims from a SQLite store", () => {
  it("of several processes at once take each of 200 tasks once, and never more than the limit", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await Promise.all(
      numbers(1, 200).map((number) => createTask(store, `t${number}`, { repository: `/${number % 3}` })),
    );
    const claimers = numbers(1, 4).map((number) =>
      nursery.start("claim", { path, owner: `owner-${number}`, limit: 3 }),
    );
    for (const claimer of claimers) expect(await claimer.said()).toBe("ready");
    for (const claimer of claimers) claimer.tell("go");
    const reports = (await Promise.all(claimers.map((claimer) => claimer.said()))) as { taken: string[] }[];
    expect(await Promise.all(claimers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);

    const taken = reports.flatMap((report) => report.taken);
    expect(taken.sort()).toEqual(
      numbers(1, 200)
        .map((number) => `t${number}`)
        .sort(),
    );
    expect(await store.countTasks()).toMatchObject({ done: 200, queued: 0 });
    const running = await runningAtOnce(store);
    expect(Math.max(...running)).toBe(3);
    expect(running).toHaveLength(400); // each began once and ended once
  }, 60_000);

  it("of a process that was killed leave a lease that can be superseded, and the task to be given back", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await createTask(store, "a");
    const claimer = nursery.start("claim", { path, owner: "dead", limit: 1, holds: true });
    expect(await claimer.said()).toBe("ready");
    claimer.tell("go");
    expect(await claimer.said()).toEqual({ taken: ["a"] });
    await claimer.kill();

    const mine = { sessionId: "a", owner: "me", now: NOW, until: NOW + 1_000 };
    const left = await store.currentLease("a");
    expect(left).toMatchObject({ owner: "dead", generation: 1 });
    expect(await store.task("a")).toMatchObject({ phase: "preparing", owner: "dead" });
    await expect(store.acquireLease(mine)).rejects.toMatchObject({ code: "session_in_use" });
    const lease = await store.acquireLease({ ...mine, supersede: 1 });
    await tell(store, "a", { type: "task.queued", why: "interrupted" });
    await store.releaseLease(lease);
    const claimed = await store.claimTask({ ...mine, choose: ([first]) => first?.id });
    expect(claimed).toMatchObject({ lease: { owner: "me", generation: 3 }, state: { runs: 2 } });
  });

  it("look at one task of each lane, and not at the 10,000 that wait behind them", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await createTask(store, "root", { repository: "/root", priority: -5 });
    await Promise.all(
      numbers(1, 10_000).map((number) =>
        createTask(store, `t${number}`, { repository: `/${number % 4}`, needs: number % 2 === 0 ? ["root"] : [] }),
      ),
    );
    const db = new Recorded(new Libsql(path), path);
    let seen: readonly Candidate[] = [];
    const choose = (candidates: readonly Candidate[]) => (seen = candidates)[0]?.id;
    const taken = db.transaction(() => claim(db, { owner: "me", now: NOW, until: NOW + 1, choose }));
    expect(seen.map(({ id }) => id).sort()).toEqual(["root", "t1", "t3"]); // what is even needs the root
    expect(taken?.state.phase).toBe("preparing");
    expect(db.asked.length).toBeLessThan(30);
    expect(plansOf(db).join("\n")).not.toMatch(/SCAN (task|need|lease|feed|event)|TEMP B-TREE/);
    db.close();
  });
});

/** How many ran after each beginning and each end, in the order of the commits. */
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
