import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionEvent, Store } from "../domain/index.ts";
import { openSqliteStore } from "../store/index.ts";
import { openStoreProcesses, type StoreProcesses } from "../store/sqlite/fixtures/processes.ts";
import { temporaryFolder } from "../testing/index.ts";
import { DONE, openScriptedSession, type ScriptedTurn } from "./test-scripted-session.ts";

let processes: StoreProcesses;
beforeAll(async () => {
  processes = await openStoreProcesses();
});
/** Unmounts the file system even if a test hangs. */
const mounted: string[] = [];
afterAll(() => {
  processes[Symbol.dispose]();
  for (const path of mounted) execFileSync("umount", ["--lazy", path], { stdio: "ignore" });
});

/** Records an event while the store fails, and waits until it is stopped. */
function talksMeanwhile(failing: Promise<void>): ScriptedTurn {
  let turns = 0;
  return async (turn) => {
    turns += 1;
    if (turns > 1) return DONE;
    await failing;
    turn.log.record({ type: "message.completed", messageId: "m", text: "said meanwhile" });
    await new Promise<void>((resolve) => turn.signal.addEventListener("abort", () => resolve()));
    return { status: "cancelled" };
  };
}

async function untilEnded(store: Store, sessionId: string): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of store.follow({ sessionId, after: 0 })) {
    events.push(event);
    if (event.type === "turn.ended") return events;
  }
  return events;
}

/** Fails the store for longer than the session retries, then repairs it. */
async function outlives(store: Store, code: string, outage: { begin(): Promise<void>; end(): Promise<void> }) {
  let begun = (): void => undefined;
  const failing = new Promise<void>((resolve) => (begun = resolve));
  await using scene = await openScriptedSession(talksMeanwhile(failing), { store, patienceMs: 100 });
  const { outcome } = scene.session.prompt("go");
  for await (const { type } of store.follow({ sessionId: scene.session.id, after: 0 })) {
    if (type === "turn.started") break;
  }
  await outage.begin();
  begun();
  await expect(outcome).rejects.toMatchObject({ code });
  await outage.end();
  const events = await untilEnded(store, scene.session.id);
  expect(events.at(-1)).toMatchObject({ outcome: { status: "failed", code } });
  expect(events.filter(({ type }) => type === "message.completed")).toHaveLength(1);
  expect(await scene.session.prompt("again").outcome).toEqual(DONE);
}

describe("a session on SQLite continues", () => {
  it("after another process has held the database's lock for too long", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "rookery.db");
    const store = await openSqliteStore({ path, lockTimeout: 100 });
    let free = (): Promise<void> => Promise.resolve();
    await outlives(store, "store_locked", {
      begin: async () => {
        const holder = processes.start("hold", { path });
        expect(await holder.nextMessage()).toBe("held");
        free = async () => {
          holder.sendLine("free");
          expect(await holder.nextMessage()).toBe("freed");
        };
      },
      end: () => free(),
    });
  });

  it("after a real disk was full, if this user may mount one", async ({ skip }) => {
    await using folder = await temporaryFolder();
    const disk = join(folder.path, "disk");
    mkdirSync(disk);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], { stdio: "ignore" });
    } catch {
      skip();
    }
    mounted.push(disk);
    const filler = join(disk, "filler");
    await outlives(await openSqliteStore({ path: join(disk, "rookery.db") }), "store_full", {
      begin: () => Promise.resolve(fill(filler)),
      end: () => Promise.resolve(rmSync(filler)),
    });
    execFileSync("umount", ["--lazy", mounted.pop() ?? disk], { stdio: "ignore" });
  });
});

/** Fills the disk. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (const size of [65_536, 4_096, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch {
        // the chunk does not fit
      }
    }
  } finally {
    closeSync(file);
  }
}
