import { statSync } from "node:fs";
import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { WorkPerTurn } from "../../stdx/test-work-per-turn.ts";
import { newAppend, numbers, writeTestSession, sessionOpened, outputText, SESSION } from "../contract/scene.ts";
import { Database, type Row, type Value } from "./database.ts";
import { openStoreProcesses, type StoreProcesses } from "./fixtures/processes.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { hideSession } from "./delete-session.ts";
import { openSqliteStore } from "./open.ts";
import { readPage } from "./pages.ts";

const newPath = databasePaths();
const OTHER = "ses_0000000002bbbbbbbbbbbb";
let processes: StoreProcesses;

beforeAll(async () => {
  processes = await openStoreProcesses();
});
afterAll(() => processes[Symbol.dispose]());

describe("a session deleted from a SQLite store", () => {
  it("leaves no rows, and a new session reuses its space", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    const fill = () => writeTestSession(store, numbers(1, 5_000).map(String));
    const size = () => {
      rowsIn(path, "pragma wal_checkpoint(truncate)");
      return statSync(path).size;
    };
    await fill();
    const once = size();
    await store.delete(await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }));
    for (const table of ["session", "event", "append", "journal", "lease"]) {
      expect(rowsIn(path, `select * from ${table}`)).toEqual([]);
    }
    expect(rowsIn(path, "select through, events from feed")).toEqual([[5_001, 0]]); // keeps the last position
    await fill();
    expect(size()).toBeLessThan(once * 1.1);
  });

  it("fails a follower in another process immediately", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store);
    const follower = processes.start("mourn", { path, sessionId: SESSION });
    expect(await follower.nextMessage()).toBe(1);
    await store.delete(await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }));
    expect(await follower.nextMessage()).toEqual({ code: "session_not_found" });
    expect(await follower.exited).toBe(0);
  });

  it("is complete or gone when the deleting process is killed", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    for (const round of numbers(1, 6)) {
      const sessionId = `ses_${round}`;
      const texts = numbers(1, 20_000).map((number) => outputText(`${number}`));
      await store.append(newAppend(0, [sessionOpened(), ...texts], { sessionId }));
      const deleter = processes.start("delete", { path, sessionId });
      expect(await deleter.nextMessage()).toBe("ready");
      deleter.sendLine("go");
      await new Promise((resolve) => setTimeout(resolve, (round - 1) * 4)); // a different moment each round
      await deleter.kill();
      const its = `select count(*) from event where session = (select no from session where id = '${sessionId}')`;
      const left = rowsIn(path, its).flat()[0];
      const there = (await store.summary(sessionId)) !== undefined;
      expect(left).toBe(there ? 20_001 : 0);
      expect(await store.list()).toHaveLength(there ? 1 : 0);
      if (!there) continue;
      await store.delete(
        await store.acquireLease({ sessionId, owner: "a", now: 10_000, until: 10_001 }), // its lease is deleted with it
      );
    }
    await writeTestSession(store);
    await store.delete(await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }));
    expect(rowsIn(path, "select count(*) from event").flat()).toEqual([0]); // includes sessions whose deleting process was killed
  });

  it("lets other writers run while a long log is deleted", { timeout: 60_000 }, async () => {
    await using store = await openSqliteStore({ path: newPath() });
    const append = (expectedHead: number, texts: number[]) =>
      store.append(
        newAppend(expectedHead, [
          ...(expectedHead === 0 ? [sessionOpened()] : []),
          ...texts.map((text) => outputText(`${text}`)),
        ]),
      );
    let { head } = await append(0, numbers(1, 9_999));
    while (head < 60_000) ({ head } = await append(head, numbers(1, 10_000)));
    const lease = await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 });
    let [turns, isOver] = [0, false];
    const look = (): void => {
      turns += 1;
      if (!isOver) setImmediate(look);
    };
    setImmediate(look);
    await store.delete(lease);
    isOver = true;
    expect(turns).toBeGreaterThan(8);
  });

  it("blocks the event loop for one slice at a time while many sessions are deleted at once", async () => {
    await using store = await openSqliteStore({ path: newPath() });
    const leases = [];
    for (const number of numbers(1, 150)) {
      const sessionId = `ses_${number}`;
      await store.append(newAppend(0, [sessionOpened()], { sessionId }));
      leases.push(await store.acquireLease({ sessionId, owner: "a", now: 0, until: 1 }));
    }
    using perTurn = new WorkPerTurn();
    const { value: transaction } = Object.getOwnPropertyDescriptor(Database.prototype, "transaction") as {
      value: Database["transaction"];
    };
    vi.spyOn(Database.prototype, "transaction").mockImplementation(function <T>(this: Database, work: () => T): T {
      perTurn.work();
      return transaction.call(this, work) as T;
    });
    await Promise.all(leases.map((lease) => store.delete(lease)));
    expect(perTurn.max).toBeLessThan(100);
    expect(await store.list()).toEqual([]);
  });

  it("removes the rest of an interrupted deletion, which is never listed or found", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, ["2", "3"]);
    const db = new Database(new Libsql(path), path);
    db.transaction(() => hideSession(db, SESSION)); // as if the process were killed here
    db.close();
    expect(await store.list()).toEqual([]);
    expect(await store.summary(SESSION)).toBeUndefined();
    expect((await store.readFeed({ after: 0 })).events).toEqual([]);
    await writeTestSession(store, ["new"]); // with the same id
    expect((await store.read({ sessionId: SESSION })).events.map(({ seq }) => seq)).toEqual([1, 2]);
    await store.delete(await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }));
    for (const table of ["session", "event", "append", "lease"])
      expect(rowsIn(path, `select * from ${table}`)).toEqual([]);
  });

  it("is not found during a read, even if another session reuses its number", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, ["2", "3"]);
    const other = new Libsql(path);
    const deletion = `
      delete from event; delete from append; delete from session;
      insert into session (no, id, head, agent, cwd, status, summary) values (1, '${OTHER}', 3, 'a', '/', 'idle', '{}');
      insert into event values (1, 1, '{"seq":1}'), (1, 2, '{"seq":2}'), (1, 3, '{"seq":3}');`;
    const db = new (class extends Database {
      override get(sql: string, ...values: Value[]): Row | undefined {
        const row = super.get(sql, ...values);
        if (sql.startsWith("select no, ")) other.exec(deletion); // between the two queries of a read
        return row;
      }
    })(new Libsql(path), path);
    await expect(readPage(db, { sessionId: SESSION }, async (work) => work())).rejects.toMatchObject({
      code: "session_not_found",
    });
    db.close();
    other.close();
  });
});

function rowsIn(path: string, sql: string): unknown[][] {
  const db = new Libsql(path);
  try {
    return db.prepare(sql).raw().all() as unknown[][];
  } finally {
    db.close();
  }
}
