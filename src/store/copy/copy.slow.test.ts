import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRookeryError, type Store } from "../../domain/index.ts";
import { temporaryFolder } from "../../testing/index.ts";
import { createTask, outputText, sessionOpened, takeNextEvents } from "../contract/scene.ts";
import { hasTestPostgres, testSchemas } from "../postgres/fixtures/schemas.ts";
import { openPostgresStore } from "../postgres/open.ts";
import { openSqliteStore } from "../sqlite/open.ts";
import { copyStore } from "./copy.ts";
import type { StoreLocation } from "./endpoint.ts";
import { fillStore, OPEN_TURN, PLAIN_SESSION, STRANGE_ID, TASK_SESSION } from "./fixtures/filled-store.ts";
import { COPIED_TABLES } from "./tables.ts";

const schemas = testSchemas();
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

const newFile = (): { path: string } => ({ path: join(folder.path, `${(files += 1)}.db`) });
const newSchema = () => schemas.next();
const open = (at: StoreLocation): Promise<Store> => ("path" in at ? openSqliteStore(at) : openPostgresStore(at));

async function filled(at: StoreLocation): Promise<{ at: StoreLocation; blob: string }> {
  await using store = await open(at);
  return { at, blob: await fillStore(store) };
}

async function use<T>(at: StoreLocation, work: (store: Store) => Promise<T>): Promise<T> {
  await using store = await open(at);
  return await work(store);
}

/** All rows of a file, without the numbers that only order rows. */
function dump({ path }: { path: string }): Record<string, unknown> {
  const db = new Libsql(path);
  const rows = [...COPIED_TABLES, "need"].map((table) => {
    const all = db.prepare(`select * from "${table}"`).all() as Record<string, unknown>[];
    const isNumbered = table === "journal" || table === "request";
    return [table, all.map(({ no, ...row }) => JSON.stringify(isNumbered ? row : { no, ...row })).toSorted()] as const;
  });
  db.close();
  return Object.fromEntries(rows);
}

const KINDS: readonly [
  string,
  () => Promise<StoreLocation> | StoreLocation,
  () => Promise<StoreLocation> | StoreLocation,
][] = [
  ["a file to another file", newFile, newFile],
  ["a file to a database", newFile, newSchema],
  ["a database to a file", newSchema, newFile],
  ["a schema to another schema", newSchema, newSchema],
];

describe.each(KINDS)("copying %s", (name, source, target) => {
  it.skipIf(name !== "a file to another file" && !hasTestPostgres)(
    "keeps everything that callers can see",
    async () => {
      const { at: from, blob } = await filled(await source());
      const to = await target();
      const before = await use(from, (store) => store.readFeed({ after: 0 }));
      const report = await copyStore(from, to);
      expect(report).toMatchObject({ sessions: 3, tasks: 4, events: 11, blobs: 1, requests: 2, position: 13 });
      await use(to, async (store) => {
        expect(await store.readFeed({ after: 0 })).toEqual(before);
        const again = { sessionId: TASK_SESSION, id: STRANGE_ID, expectedHead: 0, events: [sessionOpened()] };
        expect(await store.append(again)).toEqual({ head: 2, repeated: true });
        await expect(
          store.append({ ...again, id: "late", expectedHead: 2, fence: 1, events: [outputText("x")] }),
        ).rejects.toMatchObject({ code: "lease_lost" });
        const request = { sessionId: PLAIN_SESSION, owner: "o", now: 5, until: 6 };
        expect(await store.acquireLease(request)).toMatchObject({ generation: 3 });
        expect(await store.currentLease("needed")).toMatchObject({ generation: 2, owner: `owner ${STRANGE_ID}` });
        expect((await store.journal(PLAIN_SESSION, OPEN_TURN)).map(({ key }) => key.id)).toEqual(["z", STRANGE_ID]);
        expect(await store.keptRequest(`key ${STRANGE_ID}`)).toMatchObject({ made: { id: TASK_SESSION, seq: 1 } });
        expect((await store.keptRequest("answered"))?.response).toContain(STRANGE_ID);
        expect([...((await store.getBlob(blob)) ?? [])]).toEqual([0, 1, 255]);
      });
    },
  );

  it.skipIf(name !== "a file to another file" && !hasTestPostgres)(
    "continues numbers, positions, followers and claims",
    async () => {
      const { at: from } = await filled(await source());
      const to = await target();
      const { position } = await copyStore(from, to);
      await use(to, async (store) => {
        const following = store.follow({ sessionId: PLAIN_SESSION, after: 1 })[Symbol.asyncIterator]();
        await createTask(store, "new");
        await store.append({ sessionId: "ses_new", id: "a", expectedHead: 0, events: [sessionOpened()] });
        await store.append({ sessionId: PLAIN_SESSION, id: "b", expectedHead: 2, events: [outputText("next")] });
        expect((await takeNextEvents(following, 2)).map(({ type }) => type)).toEqual(["turn.started", "output.text"]);
        await following.return?.();
        const { events } = await store.readFeed({ after: position });
        expect(events.map((event) => event.position)).toEqual([position + 1, position + 2, position + 3]);
        const claim = { owner: "o", now: 10, until: 20, choose: (all: readonly { id: string }[]) => all[0]?.id };
        expect((await store.claimTask(claim))?.state.id).toBe("needed"); // "needs" waits for it
        expect((await store.claimTask({ ...claim, only: "needs" }))?.state.id).toBeUndefined();
      });
    },
  );
});

it.skipIf(!hasTestPostgres)("restores every column of a file that went through a database", async () => {
  const from = newFile();
  await filled(from);
  const [between, to] = [await newSchema(), newFile()];
  await copyStore(from, between);
  await copyStore(between, to);
  expect(dump(to)).toEqual(dump(from));
  const { schema } = between;
  const sql = `select last_value >= (select max(no) from "${schema}".session) as is_free from "${schema}".log_number`;
  expect(await schemas.query(sql)).toEqual([{ is_free: true }]);
});

it("knows every table of a file", async () => {
  const { path } = newFile();
  await use({ path }, () => Promise.resolve());
  const db = new Libsql(path);
  const tables = db.prepare("select name from sqlite_schema where type = 'table'").all() as { name: string }[];
  db.close();
  const known = [...COPIED_TABLES, ...FILE_TABLES_NOT_COPIED];
  expect(tables.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
});

it.skipIf(!hasTestPostgres)("knows every table of a database", async () => {
  const { url, schema } = await newSchema();
  await use({ url, schema }, () => Promise.resolve());
  const rows = await schemas.query("select tablename from pg_tables where schemaname = $1", [schema]);
  const known = [...COPIED_TABLES, ...DATABASE_TABLES_NOT_COPIED];
  expect((rows as { tablename: string }[]).map(({ tablename }) => tablename).toSorted()).toEqual(known.toSorted());
});

/**
 * Tables that are computed from the states of tasks, written by live workers, or used to wake the watchers of deleted
 * sessions.
 */
const FILE_TABLES_NOT_COPIED = ["need", "worker", "setting", "deletion"];
/** PostgreSQL also has tables for sessions whose rows are being removed, and for the version of the schema. */
const DATABASE_TABLES_NOT_COPIED = [...FILE_TABLES_NOT_COPIED, "deleted_log", "schema_version"];

describe("the target of a copy", () => {
  const targets: readonly [string, () => Promise<StoreLocation> | StoreLocation][] = [
    ["a file", newFile],
    ["a database", newSchema],
  ];

  it.each(targets)("is refused if it is %s that is not empty", async (kind, target) => {
    if (kind === "a database" && !hasTestPostgres) return;
    const { at: from } = await filled(newFile());
    const to = await target();
    await use(to, (store) => store.putBlob(Buffer.from("kept")));
    await expect(copyStore(from, to, { restart: true })).rejects.toMatchObject({
      code: "input_invalid",
      message: expect.stringContaining("is not empty") as string,
    });
    expect(await use(to, (store) => store.list())).toEqual([]);
  });

  it.each(targets)("cannot be opened until it is whole, and a restart completes it: %s", async (kind, target) => {
    if (kind === "a database" && !hasTestPostgres) return;
    const { at: from } = await filled(newFile());
    const to = await target();
    const fail = () => {
      throw new Error("killed");
    };
    await expect(copyStore(from, to, { onProgress: fail })).rejects.toThrow("killed");
    const unfinished = { code: "store_unavailable", message: expect.stringContaining("unfinished copy") as string };
    await expect(open(to)).rejects.toMatchObject(unfinished);
    await expect(copyStore(to, newFile())).rejects.toMatchObject(unfinished);
    await expect(copyStore(from, to)).rejects.toMatchObject(unfinished);
    expect(await copyStore(from, to, { restart: true })).toMatchObject({ events: 11 });
    expect(await use(to, (store) => store.list())).toHaveLength(3);
  });

  it("is refused if it is the source", async () => {
    const { at: from } = await filled(newFile());
    const { path } = from as { path: string };
    const link = `${path}.link`;
    symlinkSync(path, link);
    for (const to of [{ path }, { path: link }]) {
      await expect(copyStore(from, to)).rejects.toMatchObject({
        code: "input_invalid",
        message: expect.stringContaining("are the same store") as string,
      });
    }
  });

  it.skipIf(!hasTestPostgres)(
    "is refused if it is an empty source under another name, which stays usable",
    async () => {
      const from = await newSchema();
      await use(from, () => Promise.resolve());
      const to = { ...from, url: from.url.replace("localhost", "db") };
      await expect(copyStore(from, to)).rejects.toThrow(/are the same store/);
      expect(await use(from, (store) => store.list())).toEqual([]);
    },
  );

  it.skipIf(!hasTestPostgres)("is refused if it is read-only or has a newer schema", async () => {
    const { at: from } = await filled(newFile());
    await schemas.query("drop role if exists copy_reader");
    await schemas.query("create role copy_reader login");
    const to = await newSchema();
    const reader = { ...to, url: to.url.replace("postgres@", "copy_reader@") };
    await expect(copyStore(from, reader)).rejects.toMatchObject({ code: "store_readonly" });
    await use(to, () => Promise.resolve());
    const additive = `insert into "${to.schema}".schema_version (version, additive) values (998, true)`;
    await schemas.query(additive); // this program can use the schema, but does not know all of its tables
    await use(to, (store) => store.list());
    await expect(copyStore(from, to)).rejects.toMatchObject({ code: "store_newer" });
    await expect(copyStore(to, newFile())).rejects.toMatchObject({ code: "store_newer" });
    await schemas.query(`insert into "${to.schema}".schema_version (version) values (999)`);
    await expect(copyStore(from, to)).rejects.toMatchObject({ code: "store_newer" });
  });

  it("is refused without its password if its URL is wrong", async () => {
    const { at: from } = await filled(newFile());
    for (const [url, code] of [
      ["mysql://me:secret@host/log", "config_invalid"],
      ["postgres://me:secret@127.0.0.1:1/log", "store_unavailable"],
    ] as const) {
      const error = await copyStore(from, { url, timeout: 100 }).catch((thrown: unknown) => thrown);
      expect(isRookeryError(error, code), String(error)).toBe(true);
      expect(String(error)).not.toContain("secret");
    }
  });
});

describe("the source of a copy", () => {
  it("is refused while a process drives a session or task of it, and nothing is created", async () => {
    const { at: from } = await filled(newFile());
    const request = { sessionId: "needed", owner: "o", now: Date.now(), until: Date.now() + 30_000 };
    const lease = await use(from, (store) => store.acquireLease(request));
    const to = newFile();
    await expect(copyStore(from, to)).rejects.toMatchObject({
      code: "session_in_use",
      message: expect.stringMatching(/a process drives needed .* expires in (29|30) s/) as string,
    });
    expect(existsSync(to.path)).toBe(false);
    await use(from, (store) => store.releaseLease(lease));
    expect(await copyStore(from, to)).toMatchObject({ tasks: 4 });
  });

  it("is refused while a worker uses it", async () => {
    const { at: from } = await filled(newFile());
    const now = Date.now();
    const worker = {
      ...{
        id: "wrk_1",
        kind: "worker" as const,
        host: "rook",
        scope: "s",
        owner: "o",
        pid: 1,
        version: "1",
        startedAt: new Date(now).toISOString(),
      },
      ...{ labels: [], agents: [], unreadyAgents: [], onlyAgents: false, mirrors: false, maxRunning: 1, sessions: 0 },
    };
    const save = (state: "ready" | "stopped", until: number) =>
      use(from, (store) => store.saveWorker({ ...worker, state, heartbeat: now, until }));
    await save("ready", now + 30_000);
    await expect(copyStore(from, newFile())).rejects.toMatchObject({
      code: "session_in_use",
      message: expect.stringContaining("worker wrk_1 of host rook uses") as string,
    });
    await save("ready", now - 1);
    await copyStore(from, newFile());
    await save("stopped", now + 30_000);
    await copyStore(from, newFile());
  });

  it("stays unchanged, even if the copy fails", async () => {
    const from = newFile();
    await filled(from);
    const bytes = () => readFileSync(from.path);
    const before = bytes();
    await copyStore(from, newFile());
    const fail = () => {
      throw new Error("killed");
    };
    await expect(copyStore(from, newFile(), { onProgress: fail })).rejects.toThrow("killed");
    expect(bytes().equals(before)).toBe(true);
  });

  it.each<[string, (writer: Store) => Promise<unknown>]>([
    [
      "an event",
      (writer) =>
        writer.append({ sessionId: PLAIN_SESSION, id: "late", expectedHead: 2, events: [outputText("late")] }),
    ],
    [
      "a lease that is released again",
      async (writer) =>
        writer.releaseLease(await writer.acquireLease({ sessionId: PLAIN_SESSION, owner: "o", now: 5, until: 6 })),
    ],
  ])("is refused if %s is written during the copy", async (_, write) => {
    const { at: from } = await filled(newFile());
    await using writer = await open(from);
    let written: Promise<unknown> | undefined;
    const to = newFile();
    const copied = copyStore(from, to, {
      onProgress({ table }) {
        if (table === "journal") written ??= write(writer);
      },
    });
    await expect(copied).rejects.toMatchObject({
      code: "store_corrupt",
      message: expect.stringMatching(/differs between the source and its copy .* --restart/) as string,
    });
    await written;
    expect(await copyStore(from, to, { restart: true })).toMatchObject({ sessions: 3 });
  });

  it.each([
    ["an event", "update event set body = '{' where session = 1 and seq = 2", `event 2 of session ${PLAIN_SESSION}`],
    ["an event of a task", "update event set body = x'ff' where session = -1 and seq = 1", "event 1 of task needed"],
    ["a missing event", "delete from event where session = 1 and seq = 1", `event 1 of session ${PLAIN_SESSION}`],
    ["a summary", "update session set summary = 'x' where no = 1", `${PLAIN_SESSION} in the table "session"`],
  ])("is refused if it is damaged: %s", async (_, sql, what) => {
    const from = newFile();
    await filled(from);
    const db = new Libsql(from.path);
    db.exec(sql);
    db.close();
    await expect(copyStore(from, newFile())).rejects.toMatchObject({
      code: "log_corrupt",
      message: expect.stringContaining(`${what} is damaged`) as string,
    });
  });

  it("is refused if it is missing, no store, or newer", async () => {
    const missing = newFile();
    await expect(copyStore(missing, newFile())).rejects.toMatchObject({ code: "store_unavailable" });
    expect(existsSync(missing.path)).toBe(false);
    const text = newFile();
    writeFileSync(text.path, "not a database, but long enough to look like one".repeat(20));
    await expect(copyStore(text, newFile())).rejects.toMatchObject({ code: "store_corrupt" });
    const newer = newFile();
    await filled(newer);
    const db = new Libsql(newer.path);
    db.exec("pragma user_version = 99");
    db.close();
    await expect(copyStore(newer, newFile())).rejects.toMatchObject({ code: "store_newer" });
  });

  it.skipIf(!hasTestPostgres)("is refused if its schema does not exist", async () => {
    await expect(copyStore(await newSchema(), newFile())).rejects.toThrow(/has no store: check the URL and the schema/);
  });
});
