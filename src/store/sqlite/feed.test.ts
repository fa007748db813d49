import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  newAppend,
  createTask,
  numbers,
  writeTestSession,
  sessionOpened,
  outputText,
  SESSION,
  TASK,
} from "../contract/scene.ts";
import { Database } from "./database.ts";
import { readFeedPage } from "./feed.ts";
import { openStoreProcesses, type StoreProcesses } from "./fixtures/processes.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { explainQueries, QueryRecorder } from "./fixtures/plans.ts";
import { openSqliteStore } from "./open.ts";

const newPath = databasePaths();
let processes: StoreProcesses;

beforeAll(async () => {
  processes = await openStoreProcesses();
});
afterAll(() => processes[Symbol.dispose]());

describe("the feed of a SQLite store", () => {
  it("wakes its followers and text followers for appends of another process", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store);
    const writer = processes.start("obey", { path, sessionId: SESSION });
    expect(await writer.nextMessage()).toBe("ready");
    const feed = store.followFeed({ after: 1 })[Symbol.asyncIterator]();
    const texts = store.followText({ sessionId: SESSION, after: 1 })[Symbol.asyncIterator]();
    for (const seq of numbers(2, 6)) {
      const next = Promise.all([feed.next(), texts.next()]);
      writer.sendLine("1");
      expect(await next).toMatchObject([{ value: [{ position: seq }] }, { value: [{ seq }] }]);
    }
    await writer.kill();
  });

  it("reads from any position with an index, also for one task", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await createTask(store);
    await store.append(
      newAppend(0, [sessionOpened({ task: TASK }), ...numbers(2, 100).map((seq) => outputText(String(seq)))]),
    );
    for (const task of [undefined, TASK]) {
      const db = new QueryRecorder(new Libsql(path), path);
      expect(readFeedPage(db, { after: 50, task, limit: 10 }).events.map(({ position }) => position)).toEqual(
        numbers(51, 60),
      );
      const plans = explainQueries(db).filter((step) => step.includes("feed "));
      expect(plans.join("\n")).not.toMatch(/SCAN|TEMP B-TREE/);
      const ofTask = plans.filter((step) => step.includes("feed_whose"));
      expect(ofTask).toHaveLength(task === undefined ? 0 : 3); // the queries for entries, sizes and bodies
      db.close();
    }
  });

  it.each([
    ["is missing", "delete from event where seq = 3"],
    ["has a wrong sequence number", `update event set body = '{"type":"x","seq":4}' where seq = 3`],
    ["is not an event", "update event set body = 'x' where seq = 3"],
    ["is empty", "update event set body = '' where seq = 3"],
  ])("names an event that %s instead of skipping it", async (_, damage) => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, ["2", "3", "4"]);
    const other = new Libsql(path);
    other.exec(damage);
    other.close();
    const corrupt = { code: "log_corrupt", message: expect.stringContaining(`event 3 of session ${SESSION}`) };
    await expect(store.readFeed({ after: 0 })).rejects.toMatchObject(corrupt);
    const texts = store.followText({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]();
    await expect(texts.next()).rejects.toMatchObject(corrupt);
    expect((await store.readFeed({ after: 3 })).events).toHaveLength(1);
  });

  it("reads a page once for all followers at the same position", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, ["2", "3"]);
    const texts = () => store.followText({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]().next();
    const feed = () => store.followFeed({ after: 0 })[Symbol.asyncIterator]().next();
    const [text, page] = [await texts(), await feed()];
    await store.append(newAppend(3, [outputText("4")]));
    expect((await texts()).value).toBe(text.value);
    expect((await feed()).value).toBe(page.value);

    const deleter = processes.start("delete", { path, sessionId: SESSION });
    expect(await deleter.nextMessage()).toBe("ready");
    deleter.sendLine("go");
    expect(await deleter.nextMessage()).toBe("deleted");
    await writeTestSession(store);
    expect((await texts()).value).toHaveLength(1);
    expect((await feed()).value).toMatchObject([{ position: 5 }]);
    await store.delete(await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }));
    await writeTestSession(store, ["2"]);
    expect((await texts()).value).toHaveLength(2);
    expect((await feed()).value).toMatchObject([{ position: 6 }, { position: 7 }]);
  });

  it("reads a consistent snapshot while a session is deleted", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, ["2", "3"]);
    const other = new Libsql(path);
    const db = new (class extends Database {
      override all(...query: Parameters<Database["all"]>) {
        const rows = super.all(...query);
        other.exec("delete from event; delete from session; delete from feed"); // between its two queries
        return rows;
      }
    })(new Libsql(path), path);
    expect(readFeedPage(db, { after: 0, limit: 10 }).events).toHaveLength(3);
    expect(readFeedPage(db, { after: 0, limit: 10 }).events).toHaveLength(0);
    db.close();
    other.close();
  });
});
