import Libsql from "libsql";
import { describe, expect, it } from "vitest";
import { newAppend, numbers, writeTestSession, outputText } from "../contract/scene.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";

const newPath = databasePaths();

describe("the commit queue of the SQLite store", () => {
  it("commits concurrent appends together", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path }, { pragmas: "pragma wal_autocheckpoint = 0" });
    await writeTestSession(store);
    const before = pagesWritten(path);
    await Promise.all(numbers(1, 1_000).map((head) => store.append(newAppend(head, [outputText("a")]))));
    // Separate commits would write 3,000 pages: one each for the event, the append id and the summary.
    expect(pagesWritten(path) - before).toBeLessThan(100);
  });

  it("limits a group to one megabyte to keep the process responsive", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store);
    const watcher = new Libsql(path);
    const version = watcher.prepare("pragma data_version").raw();
    const versions = new Set<number>();
    const appends = numbers(1, 8).map(async (head) => {
      await store.append(newAppend(head, [outputText("x".repeat(400_000))]));
      versions.add((version.get() as [number])[0]);
    });
    await Promise.all(appends);
    expect(versions.size).toBeGreaterThanOrEqual(4);
  });

  it("rejects appends when the queue is full, and accepts them again when it drains", async () => {
    await using store = await openSqliteStore({ path: newPath() });
    await writeTestSession(store);
    const append = newAppend(1, [outputText("a")]);
    const answers = await Promise.allSettled(numbers(1, 200_001).map(() => store.append(append)));
    expect(answers.filter(({ status }) => status === "rejected")).toMatchObject([
      { reason: { code: "store_unavailable", message: expect.stringContaining("200000 appends are queued") } },
    ]);
    expect(await store.append(newAppend(2, [outputText("b")]))).toEqual({ head: 3, repeated: false });
  });
});

/** The number of pages in the write-ahead log. */
function pagesWritten(path: string): number {
  const db = new Libsql(path);
  const [, pages] = db.prepare("pragma wal_checkpoint(passive)").raw().get() as [number, number];
  db.close();
  return pages;
}
