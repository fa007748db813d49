/** Contract of watches: they tell when a log has grown, without reading it. */
import assert from "node:assert/strict";
import type { Store } from "../../domain/index.ts";
import {
  appendTaskEvents,
  createTask,
  newAppend,
  numbers,
  outputText,
  SESSION,
  sessionOpened,
  storeCase,
  TASK,
  writeTestSession,
} from "./scene.ts";

const NOTICE = { type: "notice", level: "info", code: "a", message: "a" } as const;
const ENDED = { done: true, value: undefined };

function watchingHead(store: Store, after = 0, signal?: AbortSignal): AsyncIterator<number> {
  return store.watchHead({ sessionId: SESSION, after, signal })[Symbol.asyncIterator]();
}

function say(store: Store, seq: number): Promise<unknown> {
  return store.append(newAppend(seq - 1, [outputText(String(seq))]));
}

/** Reads heads until one is at least this. */
async function nextHead(heads: AsyncIterator<number>, atLeast: number): Promise<number> {
  for (;;) {
    const next = await heads.next();
    assert.notEqual(next.done, true);
    const head = next.value as number;
    if (head >= atLeast) return head;
  }
}

export const watchCases = [
  storeCase("yields the head of a watched log at once, and again when it grows", async (store) => {
    await writeTestSession(store, ["2", "3"]);
    const heads = watchingHead(store);
    assert.deepEqual(await heads.next(), { done: false, value: 3 });
    for (const seq of numbers(4, 40)) {
      const next = heads.next();
      if (seq % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      await say(store, seq);
      assert.deepEqual(await next, { done: false, value: seq });
    }
    await heads.return?.();
  }),

  storeCase("yields only heads after the cursor of a watch", async (store) => {
    await writeTestSession(store, ["2"]);
    const heads = watchingHead(store, 3);
    const next = heads.next();
    for (const seq of numbers(3, 4)) await say(store, seq);
    assert.deepEqual(await next, { done: false, value: 4 });
    await heads.return?.();
  }),

  storeCase("yields the last head to a slow consumer of a watch", async (store) => {
    await writeTestSession(store);
    const heads = watchingHead(store);
    await heads.next();
    for (const seq of numbers(2, 300)) await say(store, seq);
    assert.equal(await nextHead(heads, 300), 300);
    await heads.return?.();
  }),

  storeCase("ends a watch on abort, on return, and if the session does not exist", async (store) => {
    assert.deepEqual(await watchingHead(store).next(), ENDED);
    await writeTestSession(store);
    const stop = new AbortController();
    const waits = watchingHead(store, 1, stop.signal);
    const next = waits.next();
    stop.abort();
    assert.deepEqual(await next, ENDED);
    assert.deepEqual(await watchingHead(store, 0, AbortSignal.abort()).next(), ENDED);
    const returned = watchingHead(store, 1);
    const pending = returned.next();
    await returned.return?.();
    assert.deepEqual(await pending, ENDED);
  }),

  storeCase("ends a watch when the session is deleted and when the store closes", async (store) => {
    await writeTestSession(store);
    const next = watchingHead(store, 1).next();
    await store.delete(await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }));
    assert.deepEqual(await next, ENDED);
    await writeTestSession(store);
    await createTask(store);
    const head = watchingHead(store, 1).next();
    const task = store.watchTaskHead({ taskId: TASK, after: 1 })[Symbol.asyncIterator]().next();
    const tasks = store.watchTasks()[Symbol.asyncIterator]();
    await tasks.next();
    const change = tasks.next();
    await store[Symbol.asyncDispose]();
    for (const ended of [head, task, change]) assert.deepEqual(await ended, ENDED);
    assert.deepEqual(await watchingHead(store).next(), ENDED);
  }),

  storeCase("watches one task and all tasks, apart from a session with the same id", async (store) => {
    await createTask(store);
    await store.append(newAppend(0, [sessionOpened(), outputText("2")], { sessionId: TASK }));
    const heads = store.watchTaskHead({ taskId: TASK, after: 0 })[Symbol.asyncIterator]();
    const changes = store.watchTasks()[Symbol.asyncIterator]();
    assert.deepEqual(await heads.next(), { done: false, value: 1 });
    assert.deepEqual(await changes.next(), { done: false, value: undefined });
    const [head, change] = [heads.next(), changes.next()];
    await appendTaskEvents(store, TASK, NOTICE);
    assert.deepEqual(await head, { done: false, value: 2 });
    assert.deepEqual(await change, { done: false, value: undefined });
    const [claimedHead, claim] = [heads.next(), changes.next()];
    await store.claimTask({ owner: "a", now: 0, until: 1, choose: (candidates) => candidates[0]?.id });
    assert.deepEqual(await claimedHead, { done: false, value: 3 });
    await claim;
    const created = changes.next();
    await createTask(store, "other");
    await created;
    await Promise.all([heads.return?.(), changes.return?.()]);
  }),
];
