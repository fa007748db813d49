import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { EventDraft } from "../../domain/index.ts";
import { temporaryFolder, type TemporaryFolder } from "../../testing/index.ts";
import { connect, openSqliteStore } from "./open.ts";
import { readPage, type ReadPiece } from "./pages.ts";

const SESSION = "ses_long";
const EVENTS = 3_000;
const KB = 1024;
const stamp = { at: "2026-01-01T00:00:00.000Z", agent: "a" };

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

/** Writes a log with about `bytes` per event. Resolves with the path of its file. */
async function written(bytes: number): Promise<string> {
  const path = join(folder.path, "log.db");
  await using store = await openSqliteStore({ path });
  const opened: EventDraft = { ...stamp, type: "session.opened", backend: "api", cwd: "/tmp", permissions: "ask" };
  const delta: EventDraft = { ...stamp, type: "message.delta", turnId: "t", messageId: "m", text: "x".repeat(bytes) };
  const rest = Array.from({ length: EVENTS - 1 }, () => delta);
  await store.append({ sessionId: SESSION, id: "a", expectedHead: 0, events: [opened, ...rest] });
  return path;
}

it.each([
  ["small", 100],
  ["large", 4 * KB],
])("reads a large page of %s events in short slices", async (_, bytes) => {
  const db = connect(await written(bytes));
  const pieces: number[] = [];
  const readPiece: ReadPiece = (work) => {
    const found = work();
    const events = Array.isArray(found) ? found : (found as { events: unknown[] }).events;
    pieces.push(JSON.stringify(events).length);
    return Promise.resolve(found);
  };
  for (const order of ["oldest_first", "newest_first"] as const) {
    pieces.length = 0;
    const { events, head } = await readPage(db, { sessionId: SESSION, order, limit: EVENTS }, readPiece);
    const seqs = events.map(({ seq }) => seq);
    expect(order === "oldest_first" ? seqs : seqs.reverse()).toEqual(Array.from({ length: EVENTS }, (_, at) => at + 1));
    expect(head).toBe(EVENTS);
    expect(Math.max(...pieces)).toBeLessThan(400 * KB);
    expect(pieces.length).toBeGreaterThanOrEqual(3);
  }
  db.close();
});

it("finds one session or task at once while others read long logs", async () => {
  await using store = await openSqliteStore({ path: await written(100) });
  const spec = { prompt: "p", title: "t", repository: "/r", agent: "a", provider: "p", priority: 0, retries: 0 };
  const stages = [{ kind: "agent" as const, name: "a", agent: "a", tries: 1 }];
  const created = {
    at: stamp.at,
    type: "task.created" as const,
    spec: { ...spec, needs: [], budget: {}, stages, limits: {} },
  };
  await store.appendTask({ taskId: "task", id: "a", expectedHead: 0, events: [created] });
  const lookups: Record<string, () => Promise<unknown>> = {
    session: () => store.summary(SESSION),
    task: () => store.task("task"),
    counts: () => store.countTasks(),
    lease: () => store.currentLease(SESSION),
    request: () => store.keptRequest("some-key"),
  };
  for (const [name, lookup] of Object.entries(lookups)) {
    const reading = Array.from({ length: 20 }, () => store.read({ sessionId: SESSION, limit: EVENTS }));
    await new Promise((resolve) => setImmediate(resolve));
    let turns = 0;
    const look = (): void => void (turns += 1);
    const immediate = setImmediate(look);
    await lookup();
    clearImmediate(immediate);
    expect({ name, turns }).toEqual({ name, turns: 0 });
    await Promise.all(reading);
  }
});
