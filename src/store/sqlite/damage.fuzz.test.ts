import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newAppend, createTask, numbers, sessionOpened, outputText, SESSION, TASK } from "../contract/scene.ts";
import { openStoreProcesses, type StoreProcesses } from "./fixtures/processes.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";

const newPath = databasePaths();
const OTHER = "ses_0000000002bbbbbbbbbbbb";
const OTHER_TASK = "other";
const NOT_UTF8 = "cast(x'7b22ff22' as text)";
const VALUES = [NOT_UTF8, "x'ff00'", "12", "'{}'"];
const MINE = `id = '${SESSION}'`;
const OUR_LEASE = `session_id = '${SESSION}'`;
const OUR_TASK = `id = '${TASK}'`;
/** Every column that the store reads, with the row to damage. */
const COLUMNS = [
  ["event", "body", "session = 1 and seq = 3"],
  ...["id", "head", "agent", "cwd", "parent", "status", "summary", "task"].map((name) => ["session", name, MINE]),
  ...["id", "head"].map((name) => ["append", name, "id = 'journal'"]),
  ...["owner", "generation", "until", "released"].map((name) => ["lease", name, OUR_LEASE]),
  ...["turn", "step", "kind", "id", "finished", "value"].map((name) => ["journal", name, "session = 1"]),
  ...["hash", "bytes"].map((name) => ["blob", name, "true"]),
  ...["id", "head", "phase", "lane", "priority", "limits", "state"].map((name) => ["task", name, OUR_TASK]),
  ...["log", "whose", "head", "events"].map((name) => ["feed", name, "through = 2"]),
] as [table: string, column: string, where: string][];
/** The number of randomly damaged files. `npm run fuzz` runs more. */
const RANDOM_FILES = process.env["ROOKERY_FUZZ"] === undefined ? 12 : 150;
let processes: StoreProcesses;
let intact: string;

beforeAll(async () => {
  processes = await openStoreProcesses();
  intact = newPath();
  await fill(intact);
});
afterAll(() => processes[Symbol.dispose]());

type Codes = Record<string, unknown>;

describe("a damaged SQLite file", () => {
  it(
    "with damage in any column crashes no process and leaves the other session and task usable",
    { timeout: 120_000 },
    async () => {
      const damaged = COLUMNS.flatMap(([table, column, where]) => {
        const files = VALUES.flatMap((value) => {
          const path = copyOf(intact);
          const sql = `update ${table} set ${column} = ${value} where ${where}`;
          return damage(path, sql) ? [{ path, sql }] : []; // the table may reject the value
        });
        return process.env["ROOKERY_SLOW"] === "1" ? files : files.slice(0, 1);
      });
      expect(new Set(damaged.map(({ sql }) => sql.split("=")[0])).size).toBe(COLUMNS.length);
      const surveys = await survey(damaged.map(({ path }) => path));
      for (const [index, codes] of surveys.entries()) {
        const what = damaged[index]?.sql;
        expect(unexpected(codes), what).toEqual([]);
        const ok = [
          ...["summary", "read", "newest", "follow", "followText", "journal", "currentLease", "delete"].map(
            (name) => `${name} ${OTHER}`,
          ),
          ...["task", "readTask"].map((name) => `${name} ${OTHER_TASK}`),
          ...["countTasks", "putBlob", "claimTask"],
        ];
        for (const name of ok) expect(codes[name], `${name} after ${what}`).toBe("ok");
        expect(codes.list, what).toContain(`${OTHER} theirs`);
        expect(codes.tasks, what).toContain(OTHER_TASK);
        expect((codes.appends as string[])[1], what).toBe("ok");
      }
    },
  );

  it("names the event whose text is not UTF-8, and reads the events around it", async () => {
    const path = copyOf(intact);
    damage(path, `update event set body = cast(x'ff' || body as text) where session = 1 and seq = 3`);
    damage(path, "pragma wal_checkpoint(truncate)");
    const [codes] = await survey([copyOf(path)]);
    for (const name of [`read ${SESSION}`, `follow ${SESSION}`, `followText ${SESSION}`, "readFeed", "followFeed"]) {
      expect(codes?.[name]).toMatch(new RegExp(`^log_corrupt: event 3 of session ${SESSION} is damaged in .*: `));
    }
    expect(codes?.list).toContain(`${SESSION} mine`);
    await using store = await openSqliteStore({ path });
    expect((await store.read({ sessionId: SESSION, before: 3 })).events).toHaveLength(2);
    expect((await store.read({ sessionId: SESSION, after: 3 })).events).toHaveLength(1);
  });

  it("refuses a file with a column whose declared type is not UTF-8, which would abort the process", async () => {
    const paths = ["integer", "text"].map((type) => {
      const path = copyOf(intact);
      const bytes = readFileSync(path);
      for (let at = bytes.indexOf(` ${type}`); at !== -1; at = bytes.indexOf(` ${type}`, at)) bytes[at + 2] = 0xff;
      writeFileSync(path, bytes);
      return path;
    });
    for (const codes of await survey(paths)) {
      expect(Object.values(codes).join()).toContain("store_corrupt: the definition of a table is damaged in");
    }
  });

  it("skips damaged rows of a list and fills the page", async () => {
    const path = newPath();
    await using store = await openSqliteStore({ path });
    const ids = numbers(1, 9).map((number) => `ses_${number}`);
    for (const sessionId of ids) await store.append(newAppend(0, [sessionOpened()], { sessionId }));
    damage(path, `update session set summary = ${NOT_UTF8} where no in (9, 8, 7, 4)`);
    expect((await store.list({ limit: 3 })).map(({ id }) => id)).toEqual(["ses_6", "ses_5", "ses_3"]);
    expect((await store.list({ limit: 9 })).map(({ id }) => id)).toHaveLength(5);
    await expect(store.summary("ses_7")).rejects.toMatchObject({
      code: "log_corrupt",
      message: expect.stringContaining("the summary of session ses_7"),
    });
  });

  it(
    `with random damage crashes and blocks no process (${RANDOM_FILES} files): each operation works or fails with a code`,
    { timeout: 60_000 + RANDOM_FILES * 2_000 },
    async () => {
      const large = newPath();
      await fill(large, 1_500);
      const paths = numbers(1, RANDOM_FILES).map((seed) => {
        const path = copyOf(large);
        damageAtRandom(path, seed);
        return path;
      });
      for (const [index, codes] of (await survey(paths)).entries()) {
        expect(unexpected(codes), `seed ${index + 1}`).toEqual([]);
      }
    },
  );
});

async function survey(paths: readonly string[]): Promise<Codes[]> {
  const child = processes.start("survey", { path: "", paths, sessions: [SESSION, OTHER], tasks: [TASK, OTHER_TASK] });
  const codes: Codes[] = [];
  for (const path of paths) {
    const said = await child.nextMessage();
    expect(said, `the process that read ${path} died`).toBeDefined();
    codes.push(said as Codes);
  }
  expect(await child.exited).toBe(0);
  return codes;
}

function unexpected(codes: Codes): unknown[] {
  return Object.entries(codes).filter(([, code]) => typeof code === "string" && code.startsWith("UNEXPECTED"));
}

/** Writes two sessions and two tasks, and moves everything from the write-ahead log into the file. */
async function fill(path: string, more = 0): Promise<void> {
  await write(path, more);
  damage(path, "pragma wal_checkpoint(truncate)");
}

async function write(path: string, more: number): Promise<void> {
  await using store = await openSqliteStore({ path });
  await createTask(store);
  const texts = numbers(1, 3 + more).map((number) => outputText(`text ${number} ${"é".repeat(number % 300)}`));
  await store.append(newAppend(0, [sessionOpened({ task: TASK, title: "mine" }), ...texts]));
  await store.append(newAppend(0, [sessionOpened({ title: "theirs" }), outputText("b")], { sessionId: OTHER }));
  const key = { sessionId: SESSION, turnId: "trn_1", step: 0, kind: "tool", id: "call" } as const;
  await store.append(
    newAppend(4 + more, [], {
      id: "journal",
      journal: [
        { op: "start", key },
        { op: "finish", key, value: { a: 1 } },
      ],
    }),
  );
  await createTask(store, OTHER_TASK, { repository: "/other" });
  await store.putBlob(Uint8Array.of(1, 2, 3));
  await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 });
}

function copyOf(path: string): string {
  const copy = newPath();
  mkdirSync(dirname(copy));
  copyFileSync(path, copy);
  return copy;
}

/** False if the table rejects the value. */
function damage(path: string, sql: string): boolean {
  const db = new Libsql(path);
  try {
    db.exec(sql);
    return true;
  } catch {
    return false;
  } finally {
    db.close();
  }
}

/** Damages bytes, a sector or the end of the file, or of a write-ahead log with the last commits. */
function damageAtRandom(path: string, seed: number): void {
  const random = randomNumbers(seed);
  const target = seed % 3 === 0 ? writeAheadLog(path) : path;
  let bytes = readFileSync(target);
  const at = () => Math.floor(random() * bytes.length);
  if (seed % 4 === 0) bytes = bytes.subarray(0, at());
  else if (seed % 4 === 1) {
    const sector = at() & ~511;
    for (let index = sector; index < Math.min(sector + 512, bytes.length); index += 1) bytes[index] = at() & 255;
  } else for (let count = seed % 4 === 2 ? 1 : 200; count > 0; count -= 1) bytes[at()] = at() & 255;
  writeFileSync(target, bytes);
}

/** Copies the file with a write-ahead log that is not checkpointed. */
function writeAheadLog(path: string): string {
  const db = new Libsql(path);
  db.exec("pragma wal_autocheckpoint = 0; update event set body = body || ' '; update session set agent = agent");
  const wal = readFileSync(`${path}-wal`);
  const file = readFileSync(path);
  db.close();
  writeFileSync(path, file);
  writeFileSync(`${path}-wal`, wal);
  return `${path}-wal`;
}

/** A linear congruential generator: the same seed damages the same bytes. */
function randomNumbers(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
