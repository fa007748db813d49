import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionEvent, TaskEvent } from "../../domain/index.ts";
import {
  newAppend,
  createTask,
  toTaskEventDraft,
  numbers,
  sessionOpened,
  outputText,
  SESSION,
  TASK,
  newTaskAppend,
} from "../contract/scene.ts";
import type { Damage } from "./damage.ts";
import { openStoreProcesses, type StoreProcesses } from "./fixtures/processes.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";
import type { StoreRepair } from "./repair.ts";

const newPath = databasePaths();
const SESSIONS = [SESSION, ...numbers(2, 30).map((number) => `ses_${String(number).padStart(10, "0")}bbbbbbbbbbbb`)];
const TASKS = [TASK, "other"];
const KEY = { sessionId: SESSION, turnId: "trn_1", step: 0, kind: "tool", id: "call" } as const;
const NOT_UTF8 = "cast(x'7b22ff22' as text)";
/** The number of randomly damaged files. `npm run fuzz` runs more. */
const RANDOM_FILES = process.env["ROOKERY_FUZZ"] === undefined ? 4 : 150;
let processes: StoreProcesses;
let intact: string;
let expected: Content;

beforeAll(async () => {
  processes = await openStoreProcesses();
  intact = newPath();
  await fill(intact);
  expected = await contentOf(intact);
});
afterAll(() => processes[Symbol.dispose]());

interface Outcome {
  readonly found: Damage[];
  readonly repair: StoreRepair & { readonly code?: string; readonly message?: string };
  readonly left: Damage[];
}
type Content = Record<string, readonly (SessionEvent | TaskEvent)[] | undefined>;

describe("repair of a SQLite file", () => {
  it("changes nothing if nothing is damaged", async () => {
    const path = copyOf(intact);
    const [outcome] = await repair([path]);
    expect(outcome).toMatchObject({ found: [], repair: { damages: [], lost: [] }, left: [] });
    expect(readdirSync(dirname(path)).filter((name) => name.includes("damaged"))).toEqual([]);
  });

  it("replaces a damaged event with a notice and saves all others", async () => {
    const path = copyOf(intact);
    damage(path, `update event set body = cast(x'ff' || body as text) where session = 1 and seq in (3, 5, 6)`);
    const [outcome] = await repair([path]);
    expect(outcome?.found).toEqual([
      expect.objectContaining({ kind: "session", id: SESSION, events: "events 3, 5 to 6" }),
    ]);
    expect(outcome?.found[0]?.message).toMatch(`session ${SESSION} is damaged at events 3, 5 to 6: `);
    expect(outcome?.repair.lost).toEqual([`events 3, 5 to 6 of session ${SESSION}`]);
    expect(outcome?.left).toEqual([]);
    const content = await contentOf(path);
    for (const seq of [3, 5, 6]) {
      expect(content[SESSION]?.[seq - 1]).toMatchObject({ seq, type: "notice", code: "event_lost" });
    }
    const lost = new Set([3, 5, 6]);
    expect(content[SESSION]?.filter(({ seq }) => !lost.has(seq))).toEqual(
      expected[SESSION]?.filter(({ seq }) => !lost.has(seq)),
    );
    expect({ ...content, [SESSION]: [] }).toEqual({ ...expected, [SESSION]: [] });
    expect(JSON.stringify(content["other"])).toBe(JSON.stringify(expected["other"]));
  });

  it("does not restore a session whose deletion was interrupted", async () => {
    const path = copyOf(intact);
    const [, deleted = ""] = SESSIONS;
    damage(path, `delete from feed where log = 2; delete from lease where session_id = '${deleted}'`);
    damage(path, `update session set id = 'ses_deleted_2', head = 0, status = 'copying' where id = '${deleted}'`);
    damage(path, `update event set body = cast(x'ff' || body as text) where session = 1 and seq = 3`);
    const [outcome] = await repair([path]);
    expect(outcome?.found.map(({ id }) => id)).toEqual([SESSION]);
    expect(outcome?.left).toEqual([]);
    await using store = await openSqliteStore({ path });
    const ids = (await store.list({ limit: 1_000 })).map(({ id }) => id);
    expect(ids.sort()).toEqual(SESSIONS.filter((id) => id !== deleted).sort());
  });

  it("keeps the damaged file, readable by its owner only, and finds no damage the next time", async () => {
    const path = copyOf(intact);
    damage(path, `update session set summary = ${NOT_UTF8}, head = 'x' where no in (1, 4)`);
    const [outcome] = await repair([path]);
    const [again] = await repair([path]);
    expect(outcome?.found.map(({ id }) => id)).toEqual([SESSION, SESSIONS[3]]);
    expect(outcome?.repair.lost).toEqual([]);
    expect(again).toMatchObject({ found: [], repair: { damages: [] }, left: [] });
    expect(await contentOf(path)).toEqual(expected);
    const kept = outcome?.repair.damagedFile ?? "";
    expect(existsSync(kept)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const names = readdirSync(dirname(path)).filter((name) => !/-(wal|shm|bell)$/.test(name));
    expect(names.sort()).toEqual([basename(path), basename(kept)]);
  });

  it("keeps journals of unfinished turns, blobs, and the task of a session", async () => {
    const path = copyOf(intact);
    damage(path, `update event set body = ${NOT_UTF8} where session = 2 and seq = 2`);
    await repair([path]);
    await using store = await openSqliteStore({ path });
    expect(await store.journal(SESSION, "trn_1")).toEqual([{ key: KEY, finished: true, value: { a: 1 } }]);
    const hash = "sha256:039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81";
    expect(await store.getBlob(hash)).toEqual(Buffer.of(1, 2, 3));
    expect((await store.list({ task: TASK })).map(({ id }) => id)).toEqual([SESSION]);
    expect((await store.append(newAppend(expected[SESSION]?.length ?? 0, [outputText("more")]))).repeated).toBe(false);
  });

  it("rebuilds a lost first event from the summary or the state", async () => {
    const path = copyOf(intact);
    damage(path, `update event set body = ${NOT_UTF8} where seq = 1 and session in (1, -1)`);
    const [outcome] = await repair([path]);
    expect(outcome?.repair.lost).toEqual([`event 1 of task ${TASK}`, `event 1 of session ${SESSION}`]);
    expect(await contentOf(path)).toEqual(expected);
  });

  it("saves every session without events in an overwritten page", { timeout: 60_000 }, async () => {
    const paths = damagedPages();
    expect(paths.length).toBeGreaterThan(0);
    const outcomes = await repair(paths);
    for (const [index, outcome] of outcomes.entries()) {
      const path = paths[index] ?? "";
      expect(outcome.repair.code, path).toBeUndefined();
      expect(outcome.found, path).not.toEqual([]);
      expect(outcome.left, path).toEqual([]);
      const content = await contentOf(path);
      const lost = JSON.stringify(outcome.repair.lost);
      const changed = Object.keys(expected).filter(
        (id) => JSON.stringify(content[id]) !== JSON.stringify(expected[id]),
      );
      expect(
        changed.filter((id) => !lost.includes(id)),
        path,
      ).toEqual([]);
      expect(changed.length, path).toBeLessThan(10);
    }
  });

  it("rejects with store_locked while another process uses the file, and changes nothing", async () => {
    const path = copyOf(intact);
    damage(path, `update session set summary = ${NOT_UTF8} where no = 1`);
    await using store = await openSqliteStore({ path });
    const [outcome] = await repair([path]);
    expect(outcome?.repair.code).toBe("store_locked");
    expect(outcome?.repair.message).toContain("stop all running rookery");
    expect((await store.read({ sessionId: SESSION })).events).toEqual(expected[SESSION]);
    expect(readdirSync(dirname(path)).filter((name) => /damaged|repairing/.test(name))).toEqual([]);
  });

  it(
    `leaves a valid file or the original for ${RANDOM_FILES} randomly damaged files`,
    { timeout: 60_000 + RANDOM_FILES * 2_000 },
    async () => {
      const paths = numbers(1, RANDOM_FILES).map((seed) => damagedAtRandom(seed));
      for (const [
        index,
        {
          repair: { code },
          left,
        },
      ] of (await repair(paths)).entries()) {
        expect(code ?? "", `seed ${index + 1}`).not.toContain("UNEXPECTED");
        if (code === undefined) expect(left, `seed ${index + 1}`).toEqual([]);
        expect(existsSync(paths[index] ?? "")).toBe(true);
      }
    },
  );
});

/** Runs each step in its own process, like the command. */
async function repair(paths: readonly string[]): Promise<Outcome[]> {
  const found = await runChild("examine", paths);
  const repaired = await runChild("repair", paths);
  const left = await runChild("examine", paths);
  return paths.map((_, index) => ({ found: found[index], repair: repaired[index], left: left[index] }) as Outcome);
}

async function runChild(role: string, paths: readonly string[]): Promise<unknown[]> {
  const child = processes.start(role, { path: "", paths });
  const outcomes: unknown[] = [];
  for (const path of paths) {
    const said = await child.nextMessage();
    expect(said, `the process that should ${role} ${path} died`).toBeDefined();
    outcomes.push(said);
  }
  expect(await child.exited).toBe(0);
  return outcomes;
}

async function fill(path: string): Promise<void> {
  {
    await using store = await openSqliteStore({ path });
    for (const taskId of TASKS) {
      await createTask(store, taskId);
      await store.appendTask(
        newTaskAppend(1, [toTaskEventDraft({ type: "task.stop_asked", reason: "é" })], { taskId }),
      );
    }
    for (const [index, sessionId] of SESSIONS.entries()) {
      const texts = numbers(1, 40).map((number) => outputText(`text ${number} ${"é".repeat((number * 7) % 90)}`));
      const first = sessionOpened({ title: `session ${index}`, ...(index === 0 && { task: TASK }) });
      await store.append(newAppend(0, [first, ...texts], { sessionId }));
    }
    const journal = [
      { op: "start", key: KEY },
      { op: "finish", key: KEY, value: { a: 1 } },
    ] as const;
    await store.append(newAppend(41, [], { journal }));
    await store.putBlob(Uint8Array.of(1, 2, 3));
    await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 });
  }
  damage(path, "pragma wal_checkpoint(truncate)");
}

async function contentOf(path: string): Promise<Content> {
  await using store = await openSqliteStore({ path });
  const content: Content = {};
  for (const sessionId of SESSIONS) {
    content[sessionId] = (await store.read({ sessionId }).catch(() => undefined))?.events;
  }
  for (const taskId of TASKS) content[taskId] = (await store.readTask({ taskId }).catch(() => undefined))?.events;
  return content;
}

function copyOf(path: string): string {
  const copy = newPath();
  mkdirSync(dirname(copy));
  copyFileSync(path, copy);
  return copy;
}

function damage(path: string, sql: string): void {
  const db = new Libsql(path);
  db.exec(sql);
  db.close();
}

/** Copies of the file, each with a different page of events overwritten. */
function damagedPages(): string[] {
  const bytes = readFileSync(intact);
  const size = bytes.readUInt16BE(16);
  const leaves = numbers(1, bytes.length / size - 1).filter((page) => {
    return bytes[page * size] === 10 && bytes.subarray(page * size, (page + 1) * size).includes('"output.text"');
  });
  return leaves
    .filter((_, index) => index % (process.env["ROOKERY_SLOW"] === "1" ? 60 : 240) === 0)
    .map((page) => {
      const path = copyOf(intact);
      const damaged = Buffer.from(bytes);
      damaged.fill(0xa5, page * size, (page + 1) * size);
      writeFileSync(path, damaged);
      return path;
    });
}

/** Damages some bytes or a sector. The same seed damages the same bytes. */
function damagedAtRandom(seed: number): string {
  const path = copyOf(intact);
  const bytes = readFileSync(path);
  let state = seed * 2_654_435_761;
  const random = (below: number) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((state / 4_294_967_296) * below);
  };
  const sector = random(bytes.length) & ~511;
  for (let index = 0; index < (seed % 2 === 0 ? 512 : 50); index += 1) {
    bytes[seed % 2 === 0 ? sector + index : random(bytes.length)] = random(256);
  }
  writeFileSync(path, bytes);
  return path;
}
