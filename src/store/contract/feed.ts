/** The contract of the feed and of following text: everything, once, in the order of the commits, as JSON. */
import assert from "node:assert/strict";
import type { EventText, FeedText, LogEvent, Store } from "../../domain/index.ts";
import {
  appendOf,
  createTask,
  happens,
  inStore,
  numbers,
  openSession,
  opening,
  refuses,
  says,
  SESSION,
  TASK,
  taskAppendOf,
  tell,
} from "./scene.ts";

const NOTICE = { type: "notice", level: "info", code: "said", message: "x" } as const;
const OTHER = "ses_0000000002bbbbbbbbbbbb";

function following(store: Store, after = 0, more: { task?: string; signal?: AbortSignal } = {}) {
  return store.followFeed({ after, ...more })[Symbol.asyncIterator]();
}

function followingText(store: Store, after = 0, signal?: AbortSignal) {
  return store.followText({ sessionId: SESSION, after, signal })[Symbol.asyncIterator]();
}

/** What a follower gets until it has `count`; it never gets an empty page. */
async function take<T>(pages: AsyncIterator<readonly T[]>, count: number): Promise<T[]> {
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

/** Whose they are, and where in their log. */
function namesOf(texts: readonly (FeedText | EventText)[]): string[] {
  return texts.map(({ text }) => {
    const event = JSON.parse(text) as LogEvent;
    return `${"taskId" in event ? event.taskId : event.sessionId} ${event.seq}`;
  });
}

function positionsOf(texts: readonly FeedText[]): number[] {
  return texts.map(({ position }) => position);
}

async function say(store: Store, from: number, to: number, sessionId = SESSION): Promise<void> {
  await Promise.all(
    numbers(from, to).map((seq) => store.append(appendOf(seq - 1, [says(String(seq))], { sessionId }))),
  );
}

async function remove(store: Store, sessionId: string): Promise<void> {
  await store.delete(await store.acquireLease({ sessionId, owner: "a", now: 0, until: 1 }));
}

/** A task with two sessions, and one that is nobody's. */
async function mixed(store: Store): Promise<void> {
  await createTask(store, TASK);
  await store.append(appendOf(0, [opening({ task: TASK }), says("2")]));
  await store.append(appendOf(0, [opening()], { sessionId: OTHER }));
  await tell(store, TASK, NOTICE, { type: "task.ended", outcome: "done" });
  await say(store, 3, 3);
  await store.append(appendOf(0, [opening({ task: TASK })], { sessionId: "ses_3" }));
  await createTask(store, "other");
}

const MIXED = [`${TASK} 1`, `${SESSION} 1`, `${SESSION} 2`, `${OTHER} 1`, `${TASK} 2`, `${TASK} 3`, `${SESSION} 3`];
const ALL = [...MIXED, "ses_3 1", "other 1"];

export const feedCases = [
  inStore("the feed has every event once, in the order of the commits, from any position", async (store) => {
    assert.deepEqual(await store.readFeed({ after: 0 }), { events: [], head: 0 });
    await mixed(store);
    const { events, head } = await store.readFeed({ after: 0 });
    assert.deepEqual(namesOf(events), ALL);
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

  inStore("a page of the feed is full although each of its events was committed alone", async (store) => {
    await openSession(store);
    for (const seq of numbers(2, 80)) await say(store, seq, seq);
    assert.deepEqual(positionsOf((await store.readFeed({ after: 0 })).events), numbers(1, 80));
    assert.deepEqual(positionsOf((await store.readFeed({ after: 3, limit: 70 })).events), numbers(4, 73));
  }),

  inStore("what the feed says of an event is what its log says", async (store) => {
    await mixed(store);
    await store.append(appendOf(3, [{ ...says("\u001e\u0000\ud800 é"), seq: 9, sessionId: "stray" } as never]));
    const { events } = await store.readFeed({ after: 0 });
    const told = events.map(({ text }) => JSON.parse(text) as LogEvent);
    const ofSession = told.filter((event) => "sessionId" in event && event.sessionId === SESSION);
    assert.deepEqual(ofSession, (await store.read({ sessionId: SESSION })).events);
    const ofTask = told.filter((event) => "taskId" in event && event.taskId === TASK);
    assert.deepEqual(ofTask, (await store.readTask({ taskId: TASK })).events);
  }),

  inStore("the feed of a task has the task and its sessions", async (store) => {
    await mixed(store);
    const { events, head } = await store.readFeed({ after: 0, task: TASK });
    assert.deepEqual(
      namesOf(events),
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
    await refuses("task_not_found", store.readFeed({ after: 0, task: "none" }));
    await refuses("task_not_found", following(store, 0, { task: "none" }).next());
  }),

  inStore("a session that is given to a task later is in its feed with all it had", async (store) => {
    await createTask(store);
    await openSession(store, ["2"]);
    await store.append(appendOf(2, [opening({ task: TASK })]));
    await say(store, 4, 4);
    const { events } = await store.readFeed({ after: 0, task: TASK });
    assert.deepEqual(namesOf(events), [`${TASK} 1`, ...numbers(1, 4).map((seq) => `${SESSION} ${seq}`)]);
    await remove(store, SESSION);
    assert.deepEqual(namesOf((await store.readFeed({ after: 0 })).events), [`${TASK} 1`]);
  }),

  inStore("a deleted session is in the feed no more, and no position comes again", async (store) => {
    await mixed(store);
    const before = await store.readFeed({ after: 0 });
    await openSession(store, []).catch(() => undefined); // refused: it is there
    await store.append(appendOf(0, [opening(), says("2")], { sessionId: "ses_last" }));
    const { head } = await store.readFeed({ after: 0 });
    await remove(store, "ses_last");
    await remove(store, SESSION);
    await remove(store, OTHER);
    const left = before.events.filter((_, index) => !ALL[index]?.startsWith(SESSION) && !ALL[index]?.startsWith(OTHER));
    assert.deepEqual(await store.readFeed({ after: 0 }), { events: left, head });
    await store.append(appendOf(0, [opening()], { sessionId: "ses_new" }));
    const later = await store.readFeed({ after: head });
    assert.deepEqual(namesOf(later.events), ["ses_new 1"]);
    assert.ok(later.head > head);
    await remove(store, "ses_new");
    assert.deepEqual(await store.readFeed({ after: head }), { events: [], head: later.head });
    assert.deepEqual(await store.readFeed({ after: 0, limit: 1 }), { events: left.slice(0, 1), head: later.head });
  }),

  inStore("a follower of the feed sees what is there and then what comes", async (store) => {
    await mixed(store);
    const pages = following(store);
    assert.deepEqual(namesOf(await take(pages, ALL.length)), ALL);
    const next = take(pages, 4);
    await say(store, 4, 5);
    await tell(store, TASK, { type: "task.removed" });
    await store.appendTask(taskAppendOf(1, [happens(NOTICE)], { taskId: "other" }));
    assert.deepEqual(namesOf(await next), [`${SESSION} 4`, `${SESSION} 5`, `${TASK} 4`, "other 2"]);
    const claimed = take(pages, 1);
    await createTask(store, "third");
    assert.deepEqual(namesOf(await claimed), ["third 1"]);
    const started = take(pages, 1);
    await store.claimTask({ owner: "me", now: 0, until: 1, only: "third", choose: () => "third" });
    assert.deepEqual(namesOf(await started), ["third 2"]);
    await pages.return?.();
  }),

  inStore("a follower of a task's feed sleeps while others are told of", async (store) => {
    await mixed(store);
    const { head } = await store.readFeed({ after: 0 });
    const pages = following(store, head, { task: TASK });
    const next = take(pages, 1);
    await say(store, 2, 200, OTHER);
    await say(store, 4, 4);
    assert.deepEqual(namesOf(await next), [`${SESSION} 4`]);
    await pages.return?.();
  }),

  inStore("a follower that starts behind the last position waits for what is behind its cursor", async (store) => {
    await openSession(store);
    const pages = following(store, 3);
    const next = take(pages, 2);
    await say(store, 2, 5);
    assert.deepEqual(positionsOf(await next), [4, 5]);
    await pages.return?.();
  }),

  inStore("a slow follower of the feed misses nothing although sessions take turns", async (store) => {
    await openSession(store);
    await store.append(appendOf(0, [opening()], { sessionId: OTHER }));
    const pages = following(store);
    assert.deepEqual(namesOf(await take(pages, 2)), [`${SESSION} 1`, `${OTHER} 1`]);
    for (const round of numbers(0, 19)) {
      await Promise.all([
        say(store, 2 + round * 60, 61 + round * 60),
        say(store, 2 + round * 60, 61 + round * 60, OTHER),
      ]);
    }
    const seen = await take(pages, 2_400);
    for (const id of [SESSION, OTHER]) {
      const own = namesOf(seen).filter((name) => name.startsWith(id));
      assert.deepEqual(
        own,
        numbers(2, 1_201).map((seq) => `${id} ${seq}`),
      );
    }
    assert.deepEqual(positionsOf(seen), numbers(3, 2_402));
    await pages.return?.();
  }),

  inStore("a page of the feed that would be huge ends early", async (store) => {
    await openSession(store);
    const large = "x".repeat(1024 * 1024);
    for (const seq of numbers(2, 5))
      await store.append(
        appendOf(
          seq - 1,
          Array.from({ length: 1 }, () => says(large)),
        ),
      );
    await store.append(
      appendOf(
        5,
        numbers(1, 30).map(() => says(large)),
      ),
    );
    const { events, head } = await store.readFeed({ after: 0 });
    assert.ok(events.length > 4 && events.length <= 17, String(events.length));
    const pages = following(store);
    assert.equal(head, 35);
    assert.deepEqual(positionsOf(await take(pages, 35)), numbers(1, 35));
    const texts = followingText(store);
    assert.equal((await take(texts, 35)).length, 35);
    await Promise.all([pages.return?.(), texts.return?.()]);
  }),

  inStore("a follower of text gets what a follower gets, in pages of JSON", async (store) => {
    await openSession(store, ["2", "\u001e, \u2028 \ud800 \u0000"]);
    const pages = followingText(store);
    const texts = await take(pages, 3);
    const { events } = await store.read({ sessionId: SESSION });
    assert.deepEqual(
      texts.map(({ text }) => JSON.parse(text) as LogEvent),
      events,
    );
    assert.deepEqual(
      texts.map(({ seq }) => seq),
      [1, 2, 3],
    );
    const next = take(pages, 2_000);
    await say(store, 4, 2_003);
    assert.deepEqual(
      (await next).map(({ seq }) => seq),
      numbers(4, 2_003),
    );
    const middle = followingText(store, 2_001);
    assert.deepEqual(namesOf(await take(middle, 2)), [`${SESSION} 2002`, `${SESSION} 2003`]);
    const gone = refuses("session_not_found", middle.next());
    await remove(store, SESSION);
    await gone;
    await refuses("session_not_found", followingText(store).next());
    await pages.return?.();
  }),

  inStore("followers of pages end quietly by their signal, by leaving, and with the store", async (store) => {
    await openSession(store, ["2"]);
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
