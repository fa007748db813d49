import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionStore } from "../../domain/index.ts";
import { appendOf, numbers, openSession, says, SESSION, take, textOfEvent } from "../contract/scene.ts";
import { openNursery, type Child, type Nursery } from "./fixtures/children.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";
import { MIGRATIONS } from "./schema.ts";

const newPath = databasePaths();
/** How many times each process appends. */
const APPENDS = process.env["ROOKERY_SLOW"] === "1" ? 10_000 : 1_000;
let nursery: Nursery;

beforeAll(async () => {
  nursery = await openNursery();
});
afterAll(() => nursery[Symbol.dispose]());

describe("several processes on one SQLite store", () => {
  it(`append ${APPENDS} times each to one session: every append is committed once or refused`, async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await openSession(store);
    const count = APPENDS;
    const writers = ["a", "b"].map((name) => nursery.start("contend", { path, sessionId: SESSION, name, count }));
    for (const writer of writers) expect(await writer.said()).toBe("ready");
    for (const writer of writers) writer.tell("go");
    const reports = await Promise.all(writers.map((writer) => writer.said()));
    expect(await Promise.all(writers.map((writer) => writer.ended))).toEqual([0, 0]);

    const texts = await wholeLog(store, 1 + 2 * count);
    for (const name of ["a", "b"]) {
      const own = texts.filter((text) => text.startsWith(`${name}-`));
      expect(own).toEqual(numbers(1, count).map((number) => `${name}-${number}`));
    }
    expect(reports.some((report) => (report as { conflicts: number }).conflicts > 0)).toBe(true);
  }, 120_000);

  it("see each other's events without gap or double, in both directions", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await openSession(store);
    const writer = nursery.start("obey", { path, sessionId: SESSION });
    const reader = nursery.start("follow", { path, sessionId: SESSION, count: 301 });
    for (const child of [writer, reader]) expect(await child.said()).toBe("ready");
    const events = store.follow({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]();

    writer.tell("100");
    expect((await take(events, 101)).map(({ seq }) => seq)).toEqual(numbers(1, 101));
    writer.tell("1");
    expect((await take(events, 1)).map(({ seq }) => seq)).toEqual([102]);
    await Promise.all(numbers(103, 301).map((seq) => store.append(appendOf(seq - 1, [says("here")]))));
    expect((await take(events, 199)).map(({ seq }) => seq)).toEqual(numbers(103, 301));
    for (const seq of numbers(1, 301)) expect(await reader.said()).toBe(seq);
    expect(await reader.ended).toBe(0);
    await writer.kill();
  });

  it("see each other's events although there is no doorbell", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    mkdirSync(`${path}-bell`);
    await openSession(store);
    const writer = nursery.start("obey", { path, sessionId: SESSION });
    expect(await writer.said()).toBe("ready");
    const events = store.follow({ sessionId: SESSION, after: 1 })[Symbol.asyncIterator]();
    for (const seq of numbers(2, 6)) {
      const next = events.next();
      writer.tell("1");
      expect(await next).toMatchObject({ value: { seq } });
    }
    await writer.kill();
  });

  it("lose nothing that was reported when they are killed in the middle of writing", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await openSession(store);
    for (const round of numbers(1, 12)) {
      const writer = nursery.start("write", { path, sessionId: SESSION, name: `round${round}` });
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

  it("open a new store at the same moment, and all of them can write", async () => {
    for (const _ of numbers(1, 3)) {
      const path = newPath();
      const openers = numbers(1, 4).map((number) => nursery.start("open", { path, sessionId: `ses_${number}` }));
      expect(await Promise.all(openers.map((opener) => opener.said()))).toEqual(openers.map(() => ({ head: 1 })));
    }
  });

  it("bring an older store further at the same moment, each step once, with all that was in it", async () => {
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
    const openers = numbers(1, 4).map((number) => nursery.start("open", { path, sessionId: `ses_${number}` }));
    expect(await Promise.all(openers.map((opener) => opener.said()))).toEqual(openers.map(() => ({ head: 1 })));
    await using store = await openSqliteStore({ path });
    const { events, head } = await store.readFeed({ after: 0 });
    expect(events.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
    expect([head, (JSON.parse(events[0]?.text ?? "") as { sessionId: string }).sessionId]).toEqual([5, SESSION]);
  });

  it("end by themselves although a store is open, when nobody follows", async () => {
    const path = newPath();
    await openSession(await openSqliteStore({ path }));
    const child = nursery.start("leave", { path, sessionId: SESSION });
    expect(await child.said()).toEqual({ done: true });
    expect(await child.ended).toBe(0);
  });

  it("wait for a lock that another holds, without standing still, and go on when it is free", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await openSession(store);
    const holder = nursery.start("hold", { path });
    expect(await holder.said()).toBe("held");
    const appended = store.append(appendOf(1, [says("a")]));
    const leased = store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 });
    expect((await store.read({ sessionId: SESSION })).head).toBe(1);
    holder.tell("free"); // had the append blocked this process, nobody could say so
    expect(await holder.said()).toBe("freed");
    expect(await appended).toEqual({ head: 2, repeated: false });
    expect(await leased).toMatchObject({ generation: 1 });
  });

  it("give up on a lock after a while, in words, and work again when it is free", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path, lockTimeout: 150 });
    await openSession(store);
    const holder = nursery.start("hold", { path });
    expect(await holder.said()).toBe("held");
    const answers = await Promise.allSettled([
      store.append(appendOf(1, [says("a")])),
      store.putBlob(new Uint8Array(1)),
      store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }),
    ]);
    const locked = { reason: { code: "store_locked", message: expect.stringContaining(path) } };
    expect(answers).toMatchObject([locked, locked, locked]);
    holder.tell("free");
    expect(await holder.said()).toBe("freed");
    expect(await store.append(appendOf(1, [says("b")]))).toEqual({ head: 2, repeated: false });
  });
});

async function wholeLog(store: SessionStore, head: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < head) {
    const page = await store.read({ sessionId: SESSION, after: texts.length, limit: 10_000 });
    expect(page.events.map(({ seq }) => seq)).toEqual(numbers(texts.length + 1, texts.length + page.events.length));
    texts.push(...page.events.map(textOfEvent));
  }
  expect(texts).toHaveLength(head);
  return texts;
}

async function heads(writer: Child, count: number): Promise<number[]> {
  const said: number[] = [];
  while (said.length < count) {
    const head = await writer.said();
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
