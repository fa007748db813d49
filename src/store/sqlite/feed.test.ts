import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { appendOf, createTask, numbers, openSession, opening, says, SESSION, TASK } from "../contract/scene.ts";
import { Database } from "./database.ts";
import { readFeedPage } from "./feed.ts";
import { openNursery, type Nursery } from "./fixtures/children.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { plansOf, Recorded } from "./fixtures/plans.ts";
import { openSqliteStore } from "./open.ts";

const newPath = databasePaths();
let nursery: Nursery;

beforeAll(async () => {
  nursery = await openNursery();
});
afterAll(() => nursery[Symbol.dispose]());

describe("the feed of a SQLite store", () => {
  it("wakes its followers, and those of text, for what another process appends", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await openSession(store);
    const writer = nursery.start("obey", { path, sessionId: SESSION });
    expect(await writer.said()).toBe("ready");
    const feed = store.followFeed({ after: 1 })[Symbol.asyncIterator]();
    const texts = store.followText({ sessionId: SESSION, after: 1 })[Symbol.asyncIterator]();
    for (const seq of numbers(2, 6)) {
      const next = Promise.all([feed.next(), texts.next()]);
      writer.tell("1");
      expect(await next).toMatchObject([{ value: [{ position: seq }] }, { value: [{ seq }] }]);
    }
    await writer.kill();
  });

  it("is entered anywhere by its indexes, also that of one task", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await createTask(store);
    await store.append(appendOf(0, [opening({ task: TASK }), ...numbers(2, 100).map((seq) => says(String(seq)))]));
    for (const task of [undefined, TASK]) {
      const db = new Recorded(new Libsql(path), path);
      expect(readFeedPage(db, { after: 50, task, limit: 10 }).events.map(({ position }) => position)).toEqual(
        numbers(51, 60),
      );
      const plans = plansOf(db).filter((step) => step.includes("feed "));
      expect(plans.join("\n")).not.toMatch(/SCAN|TEMP B-TREE/);
      const ofTask = plans.filter((step) => step.includes("feed_whose"));
      expect(ofTask).toHaveLength(task === undefined ? 0 : 3); // its entries, their bytes and their bodies
      db.close();
    }
  });

  it.each([
    ["is missing", "delete from event where seq = 3"],
    ["has another's place", `update event set body = '{"type":"x","seq":4}' where seq = 3`],
    ["is no event", "update event set body = 'x' where seq = 3"],
    ["is nothing", "update event set body = '' where seq = 3"],
  ])("says of an event that %s which it is, instead of leaving it out", async (_, damage) => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await openSession(store, ["2", "3", "4"]);
    const other = new Libsql(path);
    other.exec(damage);
    other.close();
    const corrupt = { code: "log_corrupt", message: expect.stringContaining(`event 3 of session ${SESSION}`) };
    await expect(store.readFeed({ after: 0 })).rejects.toMatchObject(corrupt);
    const texts = store.followText({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]();
    await expect(texts.next()).rejects.toMatchObject(corrupt);
    expect((await store.readFeed({ after: 3 })).events).toHaveLength(1);
  });

  it("and a session's text are read once for all followers that are equally far", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await openSession(store, ["2", "3"]);
    const texts = () => store.followText({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]().next();
    const feed = () => store.followFeed({ after: 0 })[Symbol.asyncIterator]().next();
    const [text, page] = [await texts(), await feed()];
    await store.append(appendOf(3, [says("4")]));
    expect((await texts()).value).toBe(text.value);
    expect((await feed()).value).toBe(page.value);

    const deleter = nursery.start("delete", { path, sessionId: SESSION });
    expect(await deleter.said()).toBe("ready");
    deleter.tell("go");
    expect(await deleter.said()).toBe("deleted");
    await openSession(store);
    expect((await texts()).value).toHaveLength(1);
    expect((await feed()).value).toMatchObject([{ position: 5 }]);
    await store.delete(await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }));
    await openSession(store, ["2"]);
    expect((await texts()).value).toHaveLength(2);
    expect((await feed()).value).toMatchObject([{ position: 6 }, { position: 7 }]);
  });

  it("is of one moment, although a session is deleted while it is read", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await openSession(store, ["2", "3"]);
    const other = new Libsql(path);
    const db = new (class extends Database {
      override all(...query: Parameters<Database["all"]>) {
        const rows = super.all(...query);
        other.exec("delete from event; delete from session; delete from feed"); // between its two looks
        return rows;
      }
    })(new Libsql(path), path);
    expect(readFeedPage(db, { after: 0, limit: 10 }).events).toHaveLength(3);
    expect(readFeedPage(db, { after: 0, limit: 10 }).events).toHaveLength(0);
    db.close();
    other.close();
  });
});
