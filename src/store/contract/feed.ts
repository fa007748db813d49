/** Contract of the feed and of text followers: every event once, in commit order, as JSON. */
import assert from "node:assert/strict";
import type { EventText, FeedText, LogEvent, Store } from "../../domain/index.ts";
import {
  newAppend,
  createTask,
  toTaskEventDraft,
  largeStoreCase,
  storeCase,
  numbers,
  writeTestSession,
  sessionOpened,
  assertRejectsWith,
  outputText,
  SESSION,
  TASK,
  newTaskAppend,
  appendTaskEvents,
} from "./scene.ts";

const NOTICE = { type: "notice", level: "info", code: "said", message: "x" } as const;
const OTHER = "ses_0000000002bbbbbbbbbbbb";

function following(store: Store, after = 0, more: { task?: string; signal?: AbortSignal } = {}) {
  return store.followFeed({ after, ...more })[Symbol.asyncIterator]();
}

function followingText(store: Store, after = 0, signal?: AbortSignal) {
  return store.followText({ sessionId: SESSION, after, signal })[Symbol.asyncIterator]();
}

/** Reads exactly `count` items. Fails on an empty page. */
async function takeItems<T>(pages: AsyncIterator<readonly T[]>, count: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const next = await pages.next();
    if (next.done === true) break;
    assert.notEqual(next.value.length, 0);
    taken.push(...next.value);
  }
  assert.equal(taken.length, count);
  return taken;
}

/** The log id and sequence number of each event. */
function formatEventNames(texts: readonly (FeedText | EventText)[]): string[] {
  return texts.map(({ text }) => {
    const event = JSON.parse(text) as LogEvent;
    return `${"taskId" in event ? event.taskId : event.sessionId} ${event.seq}`;
  });
}

function listPositions(texts: readonly FeedText[]): number[] {
  return texts.map(({ position }) => position);
}

async function appendTexts(store: Store, from: number, to: number, sessionId = SESSION): Promise<void> {
  await Promise.all(
    numbers(from, to).map((seq) => store.append(newAppend(seq - 1, [outputText(String(seq))], { sessionId }))),
  );
}

async function remove(store: Store, sessionId: string): Promise<void> {
  await store.delete(await store.acquireLease({ sessionId, owner: "a", now: 0, until: 1 }));
}

/** A task with two sessions, a session without a task, and a second task. */
async function writeMixedLogs(store: Store): Promise<void> {
  await createTask(store, TASK);
  await store.append(newAppend(0, [sessionOpened({ task: TASK }), outputText("2")]));
  await store.append(newAppend(0, [sessionOpened()], { sessionId: OTHER }));
  await appendTaskEvents(store, TASK, NOTICE, { type: "task.ended", outcome: "done" });
  await appendTexts(store, 3, 3);
  await store.append(newAppend(0, [sessionOpened({ task: TASK })], { sessionId: "ses_3" }));
  await createTask(store, "other");
}

const MIXED = [`${TASK} 1`, `${SESSION} 1`, `${SESSION} 2`, `${OTHER} 1`, `${TASK} 2`, `${TASK} 3`, `${SESSION} 3`];
const ALL = [...MIXED, "ses_3 1", "other 1"];

export const feedCases = [
  storeCase("has every event once in the feed, in commit order, from any position", async (store) => {
    assert.deepEqual(await store.readFeed({ after: 0 }), { events: [], head: 0 });
    await writeMixedLogs(store);
    const { events, head } = await store.readFeed({ after: 0 });
    assert.deepEqual(formatEventNames(events), ALL);
    assert.equal(head, events.at(-1)?.position);
    for (const [index, { position }] of events.entries()) {
      assert.ok(position > (events[index - 1]?.position ?? 0));
      assert.deepEqual(await store.readFeed({ after: position }), { events: events.slice(index + 1), head });
      assert.deepEqual(
        (await store.readFeed({ after: position, limit: 2 })).events,
        events.slice(index + 1, index + 3),
      );
    }
    assert.deepEqual(await store.readFeed({ after: head + 100 }), { events: [], head });
    assert.deepEqual(await store.readFeed({ after: -5, limit: 1 }), { events: events.slice(0, 1), head });
  }),

  storeCase("fills a page of the feed with events of separate commits", async (store) => {
    await writeTestSession(store);
    for (const seq of numbers(2, 80)) await appendTexts(store, seq, seq);
    assert.deepEqual(listPositions((await store.readFeed({ after: 0 })).events), numbers(1, 80));
    assert.deepEqual(listPositions((await store.readFeed({ after: 3, limit: 70 })).events), numbers(4, 73));
  }),

  storeCase("returns the same event in the feed and in its log", async (store) => {
    await writeMixedLogs(store);
    await store.append(newAppend(3, [{ ...outputText("\u001e\u0000\ud800 é"), seq: 9, sessionId: "stray" } as never]));
    const { events } = await store.readFeed({ after: 0 });
    const told = events.map(({ text }) => JSON.parse(text) as LogEvent);
    const ofSession = told.filter((event) => "sessionId" in event && event.sessionId === SESSION);
    assert.deepEqual(ofSession, (await store.read({ sessionId: SESSION })).events);
    const ofTask = told.filter((event) => "taskId" in event && event.taskId === TASK);
    assert.deepEqual(ofTask, (await store.readTask({ taskId: TASK })).events);
  }),

  storeCase("has the task and its sessions in the feed of a task", async (store) => {
    await writeMixedLogs(store);
    const { events, head } = await store.readFeed({ after: 0, task: TASK });
    assert.deepEqual(
      formatEventNames(events),
      ALL.filter((name) => !name.startsWith("other") && !name.startsWith(OTHER)),
    );
    const all = await store.readFeed({ after: 0 });
    assert.equal(head, all.head);
    for (const [index, { position }] of events.entries()) {
      assert.deepEqual(
        (await store.readFeed({ after: position, task: TASK, limit: 3 })).events,
        events.slice(index + 1, index + 4),
      );
    }
    await assertRejectsWith("task_not_found", store.readFeed({ after: 0, task: "none" }));
    await assertRejectsWith("task_not_found", following(store, 0, { task: "none" }).next());
  }),

  storeCase("includes earlier events of a session that joins a task later", async (store) => {
    await createTask(store);
    await writeTestSession(store, ["2"]);
    await store.append(newAppend(2, [sessionOpened({ task: TASK })]));
    await appendTexts(store, 4, 4);
    const { events } = await store.readFeed({ after: 0, task: TASK });
    assert.deepEqual(formatEventNames(events), [`${TASK} 1`, ...numbers(1, 4).map((seq) => `${SESSION} ${seq}`)]);
    await remove(store, SESSION);
    assert.deepEqual(formatEventNames((await store.readFeed({ after: 0 })).events), [`${TASK} 1`]);
  }),

  storeCase("removes a deleted session from the feed and never reuses positions", async (store) => {
    await writeMixedLogs(store);
    const before = await store.readFeed({ after: 0 });
    await writeTestSession(store, []).catch(() => undefined); // rejected, because the session exists
    await store.append(newAppend(0, [sessionOpened(), outputText("2")], { sessionId: "ses_last" }));
    const { head } = await store.readFeed({ after: 0 });
    await remove(store, "ses_last");
    await remove(store, SESSION);
    await remove(store, OTHER);
    const left = before.events.filter((_, index) => !ALL[index]?.startsWith(SESSION) && !ALL[index]?.startsWith(OTHER));
    assert.deepEqual(await store.readFeed({ after: 0 }), { events: left, head });
    await store.append(newAppend(0, [sessionOpened()], { sessionId: "ses_new" }));
    const later = await store.readFeed({ after: head });
    assert.deepEqual(formatEventNames(later.events), ["ses_new 1"]);
    assert.ok(later.head > head);
    await remove(store, "ses_new");
    assert.deepEqual(await store.readFeed({ after: head }), { events: [], head: later.head });
    assert.deepEqual(await store.readFeed({ after: 0, limit: 1 }), { events: left.slice(0, 1), head: later.head });
  }),

  storeCase("yields existing and then new events to a feed follower", async (store) => {
    await writeMixedLogs(store);
    const pages = following(store);
    assert.deepEqual(formatEventNames(await takeItems(pages, ALL.length)), ALL);
    const next = takeItems(pages, 4);
    await appendTexts(store, 4, 5);
    await appendTaskEvents(store, TASK, { type: "task.removed" });
    await store.appendTask(newTaskAppend(1, [toTaskEventDraft(NOTICE)], { taskId: "other" }));
    assert.deepEqual(formatEventNames(await next), [`${SESSION} 4`, `${SESSION} 5`, `${TASK} 4`, "other 2"]);
    const claimed = takeItems(pages, 1);
    await createTask(store, "third");
    assert.deepEqual(formatEventNames(await claimed), ["third 1"]);
    const started = takeItems(pages, 1);
    await store.claimTask({ owner: "me", now: 0, until: 1, only: "third", choose: () => "third" });
    assert.deepEqual(formatEventNames(await started), ["third 2"]);
    await pages.return?.();
  }),

  storeCase("yields nothing to a task follower while other logs grow", async (store) => {
    await writeMixedLogs(store);
    const { head } = await store.readFeed({ after: 0 });
    const pages = following(store, head, { task: TASK });
    const next = takeItems(pages, 1);
    await appendTexts(store, 2, 200, OTHER);
    await appendTexts(store, 4, 4);
    assert.deepEqual(formatEventNames(await next), [`${SESSION} 4`]);
    await pages.return?.();
  }),

  storeCase("makes a feed follower beyond the end wait for its cursor", async (store) => {
    await writeTestSession(store);
    const pages = following(store, 3);
    const next = takeItems(pages, 2);
    await appendTexts(store, 2, 5);
    assert.deepEqual(listPositions(await next), [4, 5]);
    await pages.return?.();
  }),

  storeCase("yields every event of interleaved sessions to a slow feed follower", async (store) => {
    await writeTestSession(store);
    await store.append(newAppend(0, [sessionOpened()], { sessionId: OTHER }));
    const pages = following(store);
    assert.deepEqual(formatEventNames(await takeItems(pages, 2)), [`${SESSION} 1`, `${OTHER} 1`]);
    for (const round of numbers(0, 19)) {
      await Promise.all([
        appendTexts(store, 2 + round * 60, 61 + round * 60),
        appendTexts(store, 2 + round * 60, 61 + round * 60, OTHER),
      ]);
    }
    const seen = await takeItems(pages, 2_400);
    for (const id of [SESSION, OTHER]) {
      const own = formatEventNames(seen).filter((name) => name.startsWith(id));
      assert.deepEqual(
        own,
        numbers(2, 1_201).map((seq) => `${id} ${seq}`),
      );
    }
    assert.deepEqual(listPositions(seen), numbers(3, 2_402));
    await pages.return?.();
  }),

  largeStoreCase("ends a huge page of the feed early", async (store) => {
    await writeTestSession(store);
    const large = "x".repeat(1024 * 1024);
    for (const seq of numbers(2, 5))
      await store.append(
        newAppend(
          seq - 1,
          Array.from({ length: 1 }, () => outputText(large)),
        ),
      );
    await store.append(
      newAppend(
        5,
        numbers(1, 30).map(() => outputText(large)),
      ),
    );
    const { events, head } = await store.readFeed({ after: 0 });
    assert.ok(events.length > 4 && events.length <= 17, String(events.length));
    const pages = following(store);
    assert.equal(head, 35);
    assert.deepEqual(listPositions(await takeItems(pages, 35)), numbers(1, 35));
    const texts = followingText(store);
    assert.equal((await takeItems(texts, 35)).length, 35);
    await Promise.all([pages.return?.(), texts.return?.()]);
  }),

  largeStoreCase("yields the same events to text followers, as pages of JSON", async (store) => {
    await writeTestSession(store, ["2", "\u001e, \u2028 \ud800 \u0000"]);
    const pages = followingText(store);
    const texts = await takeItems(pages, 3);
    const { events } = await store.read({ sessionId: SESSION });
    assert.deepEqual(
      texts.map(({ text }) => JSON.parse(text) as LogEvent),
      events,
    );
    assert.deepEqual(
      texts.map(({ seq }) => seq),
      [1, 2, 3],
    );
    const next = takeItems(pages, 2_000);
    await appendTexts(store, 4, 2_003);
    assert.deepEqual(
      (await next).map(({ seq }) => seq),
      numbers(4, 2_003),
    );
    const middle = followingText(store, 2_001);
    assert.deepEqual(formatEventNames(await takeItems(middle, 2)), [`${SESSION} 2002`, `${SESSION} 2003`]);
    const gone = assertRejectsWith("session_not_found", middle.next());
    await remove(store, SESSION);
    await gone;
    await assertRejectsWith("session_not_found", followingText(store).next());
    await pages.return?.();
  }),

  storeCase("ends page followers without an error on abort, return and close", async (store) => {
    await writeTestSession(store, ["2"]);
    for (const follow of [
      (signal?: AbortSignal) => following(store, 2, signal === undefined ? {} : { signal }),
      (signal?: AbortSignal) => followingText(store, 2, signal),
    ]) {
      const waiting = new AbortController();
      const next = follow(waiting.signal).next();
      waiting.abort();
      assert.deepEqual(await next, { done: true, value: undefined });
      assert.deepEqual(await follow(AbortSignal.abort()).next(), { done: true, value: undefined });
      const left = follow();
      const pending = left.next();
      await left.return?.();
      assert.deepEqual(await pending, { done: true, value: undefined });
    }
    const last = [following(store, 2).next(), followingText(store, 2).next()];
    await store[Symbol.asyncDispose]();
    for (const next of last) assert.deepEqual(await next, { done: true, value: undefined });
  }),
];
