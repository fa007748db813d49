import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionStore } from "../../domain/index.ts";
import {
  newAppend,
  numbers,
  writeTestSession,
  outputText,
  SESSION,
  takeNextEvents,
  toTextOrType,
} from "../contract/scene.ts";
import { openStoreProcesses, type StoreProcess, type StoreProcesses } from "./fixtures/processes.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";
import { MIGRATIONS } from "./schema.ts";

const newPath = databasePaths();
/** The number of appends per process. */
const APPENDS = process.env["ROOKERY_SLOW"] === "1" ? 10_000 : 1_000;
let processes: StoreProcesses;

beforeAll(async () => {
  processes = await openStoreProcesses();
});
afterAll(() => processes[Symbol.dispose]());

describe("several processes on one SQLite store", () => {
  it(`append ${APPENDS} times each to one session, and every append is committed once or rejected`, async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store);
    const count = APPENDS;
    const writers = ["a", "b"].map((name) => processes.start("contend", { path, sessionId: SESSION, name, count }));
    for (const writer of writers) expect(await writer.nextMessage()).toBe("ready");
    for (const writer of writers) writer.sendLine("go");
    const reports = await Promise.all(writers.map((writer) => writer.nextMessage()));
    expect(await Promise.all(writers.map((writer) => writer.exited))).toEqual([0, 0]);

    const texts = await wholeLog(store, 1 + 2 * count);
    for (const name of ["a", "b"]) {
      const own = texts.filter((text) => text.startsWith(`${name}-`));
      expect(own).toEqual(numbers(1, count).map((number) => `${name}-${number}`));
    }
    expect(reports.some((report) => (report as { conflicts: number }).conflicts > 0)).toBe(true);
  }, 120_000);

  it("see each other's events without gaps or duplicates", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store);
    const writer = processes.start("obey", { path, sessionId: SESSION });
    const reader = processes.start("follow", { path, sessionId: SESSION, count: 301 });
    for (const child of [writer, reader]) expect(await child.nextMessage()).toBe("ready");
    const events = store.follow({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]();

    writer.sendLine("100");
    expect((await takeNextEvents(events, 101)).map(({ seq }) => seq)).toEqual(numbers(1, 101));
    writer.sendLine("1");
    expect((await takeNextEvents(events, 1)).map(({ seq }) => seq)).toEqual([102]);
    await Promise.all(numbers(103, 301).map((seq) => store.append(newAppend(seq - 1, [outputText("here")]))));
    expect((await takeNextEvents(events, 199)).map(({ seq }) => seq)).toEqual(numbers(103, 301));
    for (const seq of numbers(1, 301)) expect(await reader.nextMessage()).toBe(seq);
    expect(await reader.exited).toBe(0);
    await writer.kill();
  });

  it("see each other's events without a doorbell file", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    mkdirSync(`${path}-bell`);
    await writeTestSession(store);
    const writer = processes.start("obey", { path, sessionId: SESSION });
    expect(await writer.nextMessage()).toBe("ready");
    const events = store.follow({ sessionId: SESSION, after: 1 })[Symbol.asyncIterator]();
    for (const seq of numbers(2, 6)) {
      const next = events.next();
      writer.sendLine("1");
      expect(await next).toMatchObject({ value: { seq } });
    }
    await writer.kill();
  });

  it("lose no acknowledged events when they are killed while writing", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store);
    for (const round of numbers(1, 12)) {
      const writer = processes.start("write", { path, sessionId: SESSION, name: `round${round}` });
      const reported = await heads(writer, round * 17);
      const killed = writer.kill();
      reported.push(...(await heads(writer, Infinity)));
      await killed;
      const { head } = await store.read({ sessionId: SESSION, limit: 0 });
      expect(head).toBeGreaterThanOrEqual(Math.max(...reported));
      expect(
        (await wholeLog(store, head)).filter((text) => text === `round${round}-${(reported[0] ?? 0) - 1}`),
      ).toHaveLength(1);
    }
    expect(integrityOf(path)).toEqual(["ok"]);
  });

  it("create a store at the same time, and all can write", async () => {
    for (const _ of numbers(1, 3)) {
      const path = newPath();
      const openers = numbers(1, 4).map((number) => processes.start("open", { path, sessionId: `ses_${number}` }));
      expect(await Promise.all(openers.map((opener) => opener.nextMessage()))).toEqual(
        openers.map(() => ({ head: 1 })),
      );
    }
  });

  it("migrate an older store at the same time, with each step run once and all data kept", async () => {
    const path = newPath();
    mkdirSync(dirname(path), { recursive: true });
    const old = new Libsql(path);
    old.exec(MIGRATIONS[0] ?? "");
    old.exec("pragma user_version = 1");
    const body = JSON.stringify({
      type: "session.opened",
      at: "2026-01-01T00:00:00.000Z",
      agent: "a",
      cwd: "/",
      seq: 1,
    });
    const summary = JSON.stringify({ id: SESSION, head: 1, agent: "a", cwd: "/", status: "idle" });
    old.prepare("insert into session values (1, ?, 1, 'a', '/', null, 'idle', ?)").run(SESSION, summary);
    old.prepare("insert into event values (1, 1, ?)").run(body);
    old.close();
    const openers = numbers(1, 4).map((number) => processes.start("open", { path, sessionId: `ses_${number}` }));
    expect(await Promise.all(openers.map((opener) => opener.nextMessage()))).toEqual(openers.map(() => ({ head: 1 })));
    await using store = await openSqliteStore({ path });
    const { events, head } = await store.readFeed({ after: 0 });
    expect(events.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
    expect([head, (JSON.parse(events[0]?.text ?? "") as { sessionId: string }).sessionId]).toEqual([5, SESSION]);
  });

  it("exit with an open store if nobody follows it", async () => {
    const path = newPath();
    await writeTestSession(await openSqliteStore({ path }));
    const child = processes.start("leave", { path, sessionId: SESSION });
    expect(await child.nextMessage()).toEqual({ done: true });
    expect(await child.exited).toBe(0);
  });

  it("wait for a lock of another process without blocking the event loop", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store);
    const holder = processes.start("hold", { path });
    expect(await holder.nextMessage()).toBe("held");
    const appended = store.append(newAppend(1, [outputText("a")]));
    const leased = store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 });
    expect((await store.read({ sessionId: SESSION })).head).toBe(1);
    holder.sendLine("free"); // impossible if the append blocked this process
    expect(await holder.nextMessage()).toBe("freed");
    expect(await appended).toEqual({ head: 2, repeated: false });
    expect(await leased).toMatchObject({ generation: 1 });
  });

  it("fail with store_locked after the lock timeout, and work again when the lock is free", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path, lockTimeout: 150 });
    await writeTestSession(store);
    const holder = processes.start("hold", { path });
    expect(await holder.nextMessage()).toBe("held");
    const answers = await Promise.allSettled([
      store.append(newAppend(1, [outputText("a")])),
      store.putBlob(new Uint8Array(1)),
      store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }),
    ]);
    const locked = { reason: { code: "store_locked", message: expect.stringContaining(path) } };
    expect(answers).toMatchObject([locked, locked, locked]);
    holder.sendLine("free");
    expect(await holder.nextMessage()).toBe("freed");
    expect(await store.append(newAppend(1, [outputText("b")]))).toEqual({ head: 2, repeated: false });
  });
});

async function wholeLog(store: SessionStore, head: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < head) {
    const page = await store.read({ sessionId: SESSION, after: texts.length, limit: 10_000 });
    expect(page.events.map(({ seq }) => seq)).toEqual(numbers(texts.length + 1, texts.length + page.events.length));
    texts.push(...page.events.map(toTextOrType));
  }
  expect(texts).toHaveLength(head);
  return texts;
}

async function heads(writer: StoreProcess, count: number): Promise<number[]> {
  const said: number[] = [];
  while (said.length < count) {
    const head = await writer.nextMessage();
    if (head === undefined) break;
    said.push(head as number);
  }
  return said;
}

function integrityOf(path: string): unknown[] {
  const db = new Libsql(path);
  const rows = db.prepare("pragma integrity_check").raw().all() as unknown[][];
  db.close();
  return rows.map(([row]) => row);
}
