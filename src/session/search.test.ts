import { describe, expect, it } from "vitest";
import { newId, RookeryError, type EventBody, type EventDraft } from "../domain/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { searchSessions, type SearchCursor } from "./search.ts";

const stamp = { at: "2026-01-02T03:04:05.678Z", agent: "a" };
const OPENED: EventBody = { type: "session.opened", cwd: "/", backend: "api", permissions: "ask", title: "Work" };
const says = (text: string): EventBody => ({ type: "message.completed", messageId: "m", text });

async function openStore(...logs: (readonly EventBody[])[]) {
  const store = openMemoryStore();
  const ids: string[] = [];
  for (const [index, bodies] of logs.entries()) {
    const sessionId = newId("ses", 1_000 + index);
    const events = [OPENED, ...bodies].map((body): EventDraft => ({ ...stamp, ...body }));
    await store.append({ sessionId, id: newId("app"), expectedHead: 0, events });
    ids.push(sessionId);
  }
  return { store, ids, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

describe("a search", () => {
  it("finds events that have all words in any case, newest first", async () => {
    await using s = await openStore(
      [{ type: "turn.started", input: [{ type: "text", text: "Fix the Queue" }] }, says("nothing")],
      [says("the queue is\nfixed"), { type: "message.delta", messageId: "m", text: "queue fix" }],
      [says("a queue")],
    );
    const { matches, next } = await searchSessions(s.store, { text: " fix  QUEUE " });
    expect(matches).toMatchObject([
      { sessionId: s.ids[1], seq: 2, type: "message.completed", title: "Work", excerpt: "the queue is fixed" },
      { sessionId: s.ids[0], seq: 2, type: "turn.started", excerpt: "Fix the Queue" },
    ]);
    expect(next).toBeUndefined();
    expect(await searchSessions(s.store, { text: " " })).toEqual({ matches: [], next: undefined });
  });

  it("continues at its cursor without gaps or repetitions, even after the session was deleted", async () => {
    const log = (name: string) => Array.from({ length: 5 }, (_, at) => says(`${name} hit ${at}`));
    await using s = await openStore(log("a"), log("b"), log("c"));
    for (const options of [{ limit: 2 }, { maxMs: 0 }, { limit: 100 }]) {
      const found: string[] = [];
      let cursor: SearchCursor | undefined;
      do {
        const { matches, next } = await searchSessions(s.store, { text: "hit", cursor, ...options });
        found.push(...matches.map(({ excerpt }) => excerpt));
        cursor = next;
      } while (cursor !== undefined);
      expect(found).toEqual(["c", "b", "a"].flatMap((name) => [4, 3, 2, 1, 0].map((at) => `${name} hit ${at}`)));
    }
    const [, middle = ""] = s.ids;
    const lease = await s.store.acquireLease({
      sessionId: middle,
      owner: "o",
      now: Date.now(),
      until: Date.now() + 9_999,
    });
    await s.store.delete(lease);
    const { matches } = await searchSessions(s.store, { text: "hit", cursor: { sessionId: middle, before: 3 } });
    expect(matches.map(({ excerpt }) => excerpt[0])).toEqual(["a", "a", "a", "a", "a"]);
  });

  it("skips a session whose log is damaged", async () => {
    await using s = await openStore([says("hit a")], [says("hit b")], [says("hit c")]);
    const read: typeof s.store.read = async (query) => {
      if (query.sessionId === s.ids[1]) throw new RookeryError("log_corrupt", "event 2 is damaged");
      return s.store.read(query);
    };
    const store = { read, list: s.store.list.bind(s.store), summary: s.store.summary.bind(s.store) };
    const { matches } = await searchSessions(store, { text: "hit" });
    expect(matches.map(({ excerpt }) => excerpt)).toEqual(["hit c", "hit a"]);
  });

  it("lets other work run between two pages, and reads small pages", async () => {
    await using s = await openStore(Array.from({ length: 200 }, () => says("lorem ipsum ".repeat(1_700))));
    let ticks = 0;
    const turn = (): void => {
      ticks += 1;
      immediate = setImmediate(turn);
    };
    let immediate = setImmediate(turn);
    const reads: { readonly ticks: number; readonly bytes: number }[] = [];
    const read: typeof s.store.read = async (query) => {
      const page = await s.store.read(query);
      reads.push({ ticks, bytes: JSON.stringify(page.events).length });
      return page;
    };
    const { next } = await searchSessions(
      { read, list: (query) => s.store.list(query), summary: (id) => s.store.summary(id) },
      { text: "absent", maxMs: 60_000 },
    );
    clearImmediate(immediate);
    expect(next).toBeUndefined();
    expect(reads.length).toBeGreaterThan(10);
    expect(Math.max(...reads.map(({ bytes }) => bytes))).toBeLessThan(300 * 1024);
    expect(new Set(reads.map((each) => each.ticks)).size).toBe(reads.length);
  });
});
