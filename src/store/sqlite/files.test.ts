import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  newAppend,
  writeTestSession,
  sessionOpened,
  outputText,
  SESSION,
  readSessionTexts,
} from "../contract/scene.ts";
import { openStoreProcesses, type StoreProcesses } from "./fixtures/processes.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";

const newPath = databasePaths();
const NOBODY = 65534;
let processes: StoreProcesses;

beforeAll(async () => {
  processes = await openStoreProcesses();
});
afterAll(() => processes[Symbol.dispose]());

describe("the file of a SQLite store", () => {
  it("is accessible to its owner only, and so is its folder", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store);
    expect(modeOf(dirname(path))).toBe(0o700);
    for (const suffix of ["", "-wal", "-shm", "-bell"]) expect(modeOf(path + suffix)).toBe(0o600);
  });

  it("is synced with each commit", async () => {
    const check = `
      create temp table wanted (name text, value integer, check (value = 2));
      insert into wanted select 'synchronous', synchronous from pragma_synchronous;`;
    await using store = await openSqliteStore({ path: newPath() }, { pragmas: check });
    await writeTestSession(store);
  });

  it("keeps everything when it is opened again", async () => {
    const path = newPath();
    const first = await openSqliteStore({ path });
    await writeTestSession(first, ["a"]);
    const lease = await first.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 10 });
    const { hash } = await first.putBlob(Uint8Array.of(1, 2, 3));
    const repeated = newAppend(2, [outputText("b")]);
    await first.append(repeated);
    await first[Symbol.asyncDispose]();
    await using second = await openSqliteStore({ path });
    expect(await readSessionTexts(second)).toEqual(["session.opened", "a", "b"]);
    expect(await second.append(repeated)).toEqual({ head: 3, repeated: true });
    expect(await second.currentLease(SESSION)).toEqual(lease);
    expect(Uint8Array.from((await second.getBlob(hash)) ?? [])).toEqual(Uint8Array.of(1, 2, 3));
  });

  it("that is not writable fails with store_readonly and a fix", async () => {
    const path = newPath();
    const store = await openSqliteStore({ path });
    await writeTestSession(store, ["a"]);
    await store[Symbol.asyncDispose]();
    checkpoint(path);
    chmodSync(path, 0o400);
    chmodSync(dirname(path), 0o500);
    // Root can write any file, so as root the test runs a child process as another user.
    const asRoot = process.getuid?.() === 0;
    if (asRoot) for (const part of [path, dirname(path), dirname(dirname(path))]) chownSync(part, NOBODY, NOBODY);
    const opener = processes.start("open", { path, sessionId: "ses_1" }, asRoot ? { uid: NOBODY } : undefined);
    expect(await opener.nextMessage()).toMatchObject({
      code: "store_readonly",
      message: expect.stringContaining(path),
    });
    expect(await opener.exited).toBe(0);
    chmodSync(dirname(path), 0o700);
  });

  it("that becomes read-only rejects writes and stays readable", async () => {
    const path = newPath();
    await writeTestSession(await openSqliteStore({ path }), ["a"]);
    await using store = await openSqliteStore({ path }, { pragmas: "pragma query_only = 1" });
    await expect(store.append(newAppend(2, [outputText("b")]))).rejects.toMatchObject({ code: "store_readonly" });
    await expect(store.putBlob(new Uint8Array(1))).rejects.toMatchObject({ code: "store_readonly" });
    expect(await readSessionTexts(store)).toEqual(["session.opened", "a"]);
  });

  it("whose folder cannot be created fails with store_unavailable", async () => {
    const path = newPath();
    mkdirSync(dirname(path));
    writeFileSync(path, "");
    const below = `${path}/rookery.db`;
    await expect(openSqliteStore({ path: below })).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining(below),
    });
    await expect(openSqliteStore({ path: dirname(path) })).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("on a full disk rejects writes, keeps its data, and recovers when space is free", async () => {
    const path = newPath();
    await writeTestSession(await openSqliteStore({ path }), ["a"]);
    await using store = await openSqliteStore({ path }, { pragmas: "pragma max_page_count = 40" });
    const big = outputText("x".repeat(400_000));
    const full = { code: "store_full", message: expect.stringContaining(path) };
    const group = await Promise.allSettled([
      store.append(newAppend(2, [outputText("b")])),
      store.append(newAppend(3, [big])),
    ]);
    expect(group).toMatchObject([{ reason: full }, { reason: full }]);
    await expect(store.putBlob(new Uint8Array(400_000))).rejects.toMatchObject({ code: "store_full" });
    expect(await readSessionTexts(store)).toEqual(["session.opened", "a"]);
    expect(await store.append(newAppend(2, [outputText("small")]))).toEqual({ head: 3, repeated: false });
    expect(await readSessionTexts(store)).toEqual(["session.opened", "a", "small"]);
  });

  it("that is not a database fails with store_corrupt and stays unchanged", async () => {
    const path = newPath();
    mkdirSync(dirname(path));
    const content = "Dear diary, ".repeat(1_000);
    writeFileSync(path, content);
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: "store_corrupt",
      message: expect.stringContaining(path),
    });
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  it("of another program is rejected and stays unchanged", async () => {
    const path = newPath();
    mkdirSync(dirname(path));
    new Libsql(path).exec("create table recipe (name text)");
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: "store_corrupt",
      message: expect.stringContaining("another program"),
    });
  });

  it("with overwritten pages fails with store_corrupt on affected reads", async () => {
    const path = newPath();
    const store = await openSqliteStore({ path });
    await writeTestSession(
      store,
      Array.from({ length: 2_000 }, (_, index) => `text ${index}`),
    );
    await store[Symbol.asyncDispose]();
    checkpoint(path);
    const bytes = readFileSync(path);
    for (let at = 4096 * 8; at < bytes.length; at += 1) bytes[at] = (at * 31) % 251;
    writeFileSync(path, bytes);
    await using damaged = await openSqliteStore({ path });
    await expect(damaged.read({ sessionId: SESSION })).rejects.toMatchObject({
      code: "store_corrupt",
      message: expect.stringContaining(path),
    });
  });

  it.each([
    ["text that is not JSON", "update event set body = '{oops' where seq = 3"],
    ["JSON that is not an event", "update event set body = '[1]' where seq = 3"],
    ["two events in the place of one", `update event set body = '{"seq":3},{"seq":4}' where seq = 3`],
    ["an event with a wrong seq", `update event set body = '{"seq":9}' where seq = 3`],
    ["a gap", "delete from event where seq = 3"],
  ])("with %s in the log names the session and the event", async (_, sql) => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, ["2", "3", "4", "5"]);
    const other = new Libsql(path);
    other.exec(sql);
    other.close();
    await expect(store.read({ sessionId: SESSION })).rejects.toMatchObject({
      code: "log_corrupt",
      message: expect.stringContaining(`event 3 of session ${SESSION}`),
    });
    expect((await store.read({ sessionId: SESSION, after: 3 })).events).toHaveLength(2);
  });

  it.each([
    ["deleted", "", (path: string) => rmSync(path)],
    ["moved away", "", (path: string) => renameSync(path, `${path}.old`)],
    [
      "replaced",
      "",
      (path: string) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
    ["deleted with its folder", "", (path: string) => rmSync(dirname(path), { recursive: true })],
    ["missing its write-ahead log", "-wal", (path: string) => rmSync(`${path}-wal`)],
    ["missing its shared memory", "-shm", (path: string) => rmSync(`${path}-shm`)],
  ])("that is %s rejects further writes, and can be opened again", async (_, suffix, lose) => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, ["a"]);
    const lease = await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 10 });
    lose(path);
    const lost = { code: "store_replaced", message: expect.stringContaining(`${path}${suffix} was `) };
    await expect(store.append(newAppend(2, [outputText("b")]))).rejects.toMatchObject(lost);
    await expect(store.append(newAppend(2, [outputText("b")]))).rejects.toMatchObject(lost);
    await expect(store.renewLeases([lease], 20)).rejects.toMatchObject(lost);
    await expect(store.putBlob(new Uint8Array(1))).rejects.toMatchObject(lost);
    await expect(store.read({ sessionId: SESSION })).rejects.toMatchObject(lost);
    if (suffix !== "") return; // the commits in that file are lost
    await using again = await openSqliteStore({ path });
    await again.append(newAppend(0, [sessionOpened()], { sessionId: "ses_new" }));
    expect((await again.read({ sessionId: "ses_new" })).head).toBe(1);
  });

  it("that is overwritten with an older copy rejects further writes", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, ["a"]);
    checkpoint(path);
    const copy = readFileSync(path);
    await store.append(newAppend(2, [outputText("b")]));
    checkpoint(path);
    writeFileSync(path, copy); // like cp, which keeps the inode
    const lost = { code: "store_replaced", message: expect.stringContaining("older copy") };
    await expect(store.append(newAppend(0, [sessionOpened()], { sessionId: "ses_new" }))).rejects.toMatchObject(lost);
    await expect(store.putBlob(new Uint8Array(1))).rejects.toMatchObject(lost);
    await using again = await openSqliteStore({ path });
    expect((await again.read({ sessionId: SESSION })).head).toBe(2);
  });

  it.each([
    ["everything in the file", true],
    ["events in the write-ahead log", false],
  ])("that is overwritten with a larger database rejects further writes, with %s", async (_, isCheckpointed) => {
    const [path, otherPath] = [newPath(), newPath()];
    const other = await openSqliteStore({ path: otherPath });
    await writeTestSession(other, numbered(50));
    await other[Symbol.asyncDispose]();
    checkpoint(otherPath);
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, ["a"]);
    if (isCheckpointed) checkpoint(path);
    writeFileSync(path, readFileSync(otherPath));
    const lost = { code: "store_replaced", message: expect.stringContaining("overwritten with another database") };
    await expect(store.append(newAppend(2, [outputText("b")]))).rejects.toMatchObject(lost);
    await expect(store.putBlob(new Uint8Array(1))).rejects.toMatchObject(lost);
    await expect(store.read({ sessionId: SESSION })).rejects.toMatchObject(lost);
    expect(readFileSync(path).equals(readFileSync(otherPath))).toBe(true);
  });

  it("from an earlier version gets an id that reveals an overwrite", async () => {
    const [path, otherPath] = [newPath(), newPath()];
    for (const each of [path, otherPath]) {
      await writeTestSession(await openSqliteStore({ path: each }), ["a"]);
      const old = new Libsql(each);
      old.exec("pragma application_id = 0; pragma wal_checkpoint(truncate)");
      old.close();
    }
    await using store = await openSqliteStore({ path });
    await store.append(newAppend(2, [outputText("b")]));
    checkpoint(path);
    await store.append(newAppend(3, [outputText("c")]));
    writeFileSync(path, readFileSync(otherPath));
    await expect(store.append(newAppend(4, [outputText("d")]))).rejects.toMatchObject({ code: "store_replaced" });
  });

  it.each([0, 50, 4096, 8192])("that is truncated to %s bytes is reported as damaged", async (size) => {
    const path = newPath();
    const store = await openSqliteStore({ path });
    await writeTestSession(store, numbered(200));
    checkpointPassively(path);
    await store.append(newAppend(201, [outputText("b")]));
    truncateSync(path, size);
    const damaged = { code: "store_corrupt", message: expect.stringContaining(path) };
    await expect(store.append(newAppend(202, [outputText("c")]))).rejects.toMatchObject(damaged);
    await expect(store.putBlob(new Uint8Array(1))).rejects.toMatchObject(damaged);
    if (size === 0) {
      await expect(openSqliteStore({ path })).rejects.toMatchObject(damaged);
      expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    }
    await store[Symbol.asyncDispose]();
  });

  it("may become smaller when it is vacuumed", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, numbered(500));
    await store.delete(await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }));
    checkpoint(path);
    await store.append(newAppend(0, [sessionOpened()], { sessionId: "ses_new" }));
    const before = statSync(path).size;
    const db = new Libsql(path);
    db.exec("vacuum; pragma wal_checkpoint(truncate)");
    db.close();
    expect(statSync(path).size).toBeLessThan(before);
    expect(await store.append(newAppend(1, [outputText("b")], { sessionId: "ses_new" }))).toMatchObject({ head: 2 });
  });

  it("keeps its locks if the same process opens and closes it again", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    await writeTestSession(store, ["a"]);
    const second = await openSqliteStore({ path });
    await second[Symbol.asyncDispose]();
    const opener = processes.start("open", { path, sessionId: "ses_1" });
    await opener.nextMessage();
    expect(await opener.exited).toBe(0);
    expect(await store.append(newAppend(2, [outputText("b")]))).toMatchObject({ head: 3 });
  });

  it("may have any valid path", async () => {
    const path = `${dirname(newPath())}/a ?mode=ro&x=%41 # 'b' 😀.db`;
    await using store = await openSqliteStore({ path });
    await store.append(newAppend(0, [sessionOpened()]));
    expect(statSync(path).size).toBeGreaterThan(0);
  });
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `text ${index} ${"x".repeat(200)}`);
}

/** Like the automatic checkpoint of SQLite, which keeps the cache of other connections. */
function checkpointPassively(path: string): void {
  const db = new Libsql(path);
  db.exec("pragma wal_checkpoint(passive)");
  db.close();
}

/** Moves the write-ahead log into the file. */
function checkpoint(path: string): void {
  const db = new Libsql(path);
  db.exec("pragma wal_checkpoint(truncate)");
  db.close();
}
