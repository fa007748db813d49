import Libsql from "libsql";
import { describe, expect, it } from "vitest";
import { appendOf, numbers, openSession, says } from "../contract/scene.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";

const newPath = databasePaths();

describe("commits of the SQLite store", () => {
  it("hold the appends that are made at once together", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path }, { pragmas: "pragma wal_autocheckpoint = 0" });
    await openSession(store);
    const before = pagesWritten(path);
    await Promise.all(numbers(1, 1_000).map((head) => store.append(appendOf(head, [says("a")]))));
    // One by one these would be 3,000: a page each for the event, the append's id and the summary.
    expect(pagesWritten(path) - before).toBeLessThan(100);
  });

  it("hold no more than a megabyte, so that one group does not hold up the process", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await openSession(store);
    const watcher = new Libsql(path);
    const version = watcher.prepare("pragma data_version").raw();
    const versions = new Set<number>();
    const appends = numbers(1, 8).map(async (head) => {
      await store.append(appendOf(head, [says("x".repeat(400_000))]));
      versions.add((version.get() as [number])[0]);
    });
    await Promise.all(appends);
    expect(versions.size).toBeGreaterThanOrEqual(4);
  });

  it("are refused where too many wait already, and taken again when those are written", async () => {
    await using store = await openSqliteStore({ path: newPath() });
    await openSession(store);
    const append = appendOf(1, [says("a")]);
    const answers = await Promise.allSettled(numbers(1, 200_001).map(() => store.append(append)));
    expect(answers.filter(({ status }) => status === "rejected")).toMatchObject([
      { reason: { code: "store_unavailable", message: expect.stringContaining("200000 appends are waiting") } },
    ]);
    expect(await store.append(appendOf(2, [says("b")]))).toEqual({ head: 3, repeated: false });
  });
});

/** How many pages are in the log beside the file. */
function pagesWritten(path: string): number {
  const db = new Libsql(path);
  const [, pages] = db.prepare("pragma wal_checkpoint(passive)").raw().get() as [number, number];
  db.close();
  return pages;
}
