/** Contract of followers: every event once, in order, until the follower stops. */
import assert from "node:assert/strict";
import type { SessionEvent, SessionStore } from "../../domain/index.ts";
import {
  newAppend,
  storeCase,
  numbers,
  writeTestSession,
  assertRejectsWith,
  outputText,
  SESSION,
  takeNextEvents,
} from "./scene.ts";

function following(store: SessionStore, after = 0, signal?: AbortSignal): AsyncIterator<SessionEvent> {
  return store.follow({ sessionId: SESSION, after, signal })[Symbol.asyncIterator]();
}

async function seqsOf(events: AsyncIterator<SessionEvent>, count: number): Promise<number[]> {
  return (await takeNextEvents(events, count)).map(({ seq }) => seq);
}

async function say(store: SessionStore, from: number, to: number): Promise<void> {
  await Promise.all(numbers(from, to).map((seq) => store.append(newAppend(seq - 1, [outputText(String(seq))]))));
}

export const followCases = [
  storeCase("yields existing and then new events to a follower", async (store) => {
    await writeTestSession(store, ["2", "3"]);
    const events = following(store);
    assert.deepEqual(await seqsOf(events, 3), [1, 2, 3]);
    const next = seqsOf(events, 4);
    await say(store, 4, 5);
    await say(store, 6, 7);
    assert.deepEqual(await next, [4, 5, 6, 7]);
    await events.return?.();
  }),

  storeCase("starts a follower at its cursor", async (store) => {
    await writeTestSession(store, ["2", "3", "4"]);
    const events = following(store, 2);
    assert.deepEqual(await seqsOf(events, 2), [3, 4]);
    await events.return?.();
  }),

  storeCase("makes a follower beyond the head wait for its cursor", async (store) => {
    await writeTestSession(store);
    const events = following(store, 3);
    const next = seqsOf(events, 2);
    await say(store, 2, 5);
    assert.deepEqual(await next, [4, 5]);
    await events.return?.();
  }),

  storeCase("yields every event to a slow follower without blocking writers", async (store) => {
    await writeTestSession(store);
    const events = following(store);
    assert.deepEqual(await seqsOf(events, 1), [1]);
    await say(store, 2, 2_500);
    assert.deepEqual(await seqsOf(events, 2_499), numbers(2, 2_500));
    await events.return?.();
  }),

  storeCase("yields every event to each of many followers", async (store) => {
    await writeTestSession(store);
    const followers = numbers(1, 40).map(() => following(store));
    const seen = followers.map((events) => seqsOf(events, 300));
    await say(store, 2, 150);
    await say(store, 151, 300);
    for (const seqs of await Promise.all(seen)) assert.deepEqual(seqs, numbers(1, 300));
    for (const events of followers) await events.return?.();
  }),

  storeCase("yields an append that is made during a read", async (store) => {
    await writeTestSession(store);
    const events = following(store);
    for (const seq of numbers(2, 200)) {
      const next = seqsOf(events, 1);
      if (seq % 3 === 0) await Promise.resolve();
      if (seq % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
      const appended = store.append(newAppend(seq - 1, [outputText(String(seq))]));
      assert.deepEqual(await next, [seq - 1]);
      await appended;
    }
    await events.return?.();
  }),

  storeCase("ends a follower without an error on abort, in every state", async (store) => {
    await writeTestSession(store, ["2", "3"]);
    const waiting = new AbortController();
    const waits = following(store, 3, waiting.signal);
    const next = waits.next();
    waiting.abort();
    assert.deepEqual(await next, { done: true, value: undefined });

    const reading = new AbortController();
    const reads = following(store, 0, reading.signal);
    await reads.next();
    reading.abort();
    assert.deepEqual(await reads.next(), { done: true, value: undefined });
    assert.deepEqual(await following(store, 0, AbortSignal.abort()).next(), { done: true, value: undefined });
  }),

  storeCase("ends a waiting follower when its consumer returns", async (store) => {
    await writeTestSession(store);
    const events = following(store, 1);
    const next = events.next();
    await events.return?.();
    assert.deepEqual(await next, { done: true, value: undefined });
  }),

  storeCase("rejects the first read of a missing session with session_not_found", async (store) => {
    await assertRejectsWith("session_not_found", following(store).next());
  }),
];
