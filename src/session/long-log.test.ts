import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId, type EventDraft, type Store, type TaskSpec } from "../domain/index.ts";
import { openMemoryStore, openSqliteStore } from "../store/index.ts";
import { temporaryFolder, type TemporaryFolder } from "../testing/index.ts";
import { forkStoredSession } from "./fork.ts";
import { loadState } from "./open.ts";

const EVENTS = 40_000;
const AT = "2026-01-01T00:00:00.000Z";
const SPEC: TaskSpec = {
  prompt: "words ".repeat(300),
  title: "words",
  repository: "/repo",
  agent: "a",
  provider: "anthropic",
  priority: 0,
  needs: [],
  retries: 0,
  budget: {},
  stages: [{ kind: "agent", name: "a", agent: "a", tries: 1 }],
  limits: {},
};
const clock = { now: () => Date.now() };

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

/** Resolves with the longest time for which the event loop was blocked, as a fraction of the total. */
async function longestShare(work: () => Promise<unknown>): Promise<{ share: number; turns: number }> {
  let [last, longest, turns, isOver] = [performance.now(), 0, 0, false];
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    turns += 1;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const begun = performance.now();
  await work();
  const whole = performance.now() - begun;
  isOver = true;
  longest = Math.max(longest, performance.now() - last);
  return { share: longest / whole, turns };
}

async function writeLog(store: Store): Promise<string> {
  const sessionId = newId("ses");
  const stamp = { at: AT, agent: "a" };
  const opened: EventDraft = { ...stamp, type: "session.opened", backend: "api", cwd: "/tmp", permissions: "ask" };
  const started: EventDraft = { ...stamp, type: "turn.started", turnId: "t", input: [{ type: "text", text: "x" }] };
  const ended: EventDraft = { ...stamp, type: "turn.ended", turnId: "t", outcome: { status: "done" } };
  let expectedHead = 0;
  const append = async (events: readonly EventDraft[]): Promise<void> => {
    expectedHead = (await store.append({ sessionId, id: newId("app"), expectedHead, events })).head;
  };
  await append([opened, started]);
  for (let written = 0; written < EVENTS; written += 1_000) {
    const text = `some words of a message that is ${written} long`;
    await append(
      Array.from({ length: 1_000 }, () => ({ ...stamp, type: "message.delta", turnId: "t", messageId: "m", text })),
    );
  }
  await append([ended]);
  return sessionId;
}

describe.each<[string, () => Promise<Store>]>([
  ["SQLite", () => openSqliteStore({ path: join(folder.path, "log.db") })],
  ["memory", () => Promise.resolve(openMemoryStore())],
])("a long log in %s", (_, open) => {
  it("does not block the event loop while it is read, followed and forked", { timeout: 120_000 }, async () => {
    await using store = await open();
    const sessionId = await writeLog(store);
    const work: Record<string, () => Promise<unknown>> = {
      read: () => loadState(store, sessionId),
      followed: async () => {
        for await (const { seq } of store.follow({ sessionId, after: 0 })) if (seq === EVENTS) break;
      },
      forked: () => forkStoredSession({ store, clock, owner: "test" }, sessionId, {}),
    };
    for (const [name, run] of Object.entries(work)) {
      const { share, turns } = await longestShare(run);
      expect({ name, share: share < 0.6, turns: turns > 3 }).toEqual({ name, share: true, turns: true });
    }
  });
});

it("does not block the event loop while many sessions and tasks are listed", { timeout: 120_000 }, async () => {
  await using store = await openSqliteStore({ path: join(folder.path, "log.db") });
  const stamp = { at: AT, agent: "a" };
  const opened: EventDraft = { ...stamp, type: "session.opened", backend: "api", cwd: "/tmp", permissions: "ask" };
  const line = { ...stamp, type: "message.completed" as const, messageId: "m", text: "words ".repeat(100) };
  const each = Array.from({ length: 1_000 }, (_, index) => index);
  await Promise.all(
    each.map(async (index) => {
      await store.append({ sessionId: newId("ses"), id: "a", expectedHead: 0, events: [opened, line] });
      const created = { at: AT, type: "task.created" as const, spec: SPEC };
      await store.appendTask({ taskId: `task-${index}`, id: "a", expectedHead: 0, events: [created] });
    }),
  );
  const count = 16;
  const work: Record<string, () => Promise<unknown>> = {
    sessions: () => store.list({ limit: 1_000 }),
    tasks: () => store.tasks({ limit: 1_000 }),
  };
  for (const [name, list] of Object.entries(work)) {
    const { turns } = await longestShare(() => Promise.all(Array.from({ length: count }, list)));
    expect({ name, turns: turns > 6 }).toEqual({ name, turns: true });
  }
});
