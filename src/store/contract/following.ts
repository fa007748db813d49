/** The contract of following: every event once, in order, as it is committed, until someone ends it. */
import assert from "node:assert/strict";
import type { SessionEvent, SessionStore } from "../../domain/index.ts";
import { appendOf, inStore, numbers, openSession, refuses, says, SESSION, take } from "./scene.ts";

function following(store: SessionStore, after = 0, signal?: AbortSignal): AsyncIterator<SessionEvent> {
  return store.follow({ sessionId: SESSION, after, signal })[Symbol.asyncIterator]();
}

async function seqsOf(events: AsyncIterator<SessionEvent>, count: number): Promise<number[]> {
  return (await take(events, count)).map(({ seq }) => seq);
}

async function say(store: SessionStore, from: number, to: number): Promise<void> {
  await Promise.all(numbers(from, to).map((seq) => store.append(appendOf(seq - 1, [says(String(seq))]))));
}

export const followCases = [
  inStore("a follower sees what is there and then what comes", async (store) => {
    await openSession(store, ["2", "3"]);
    const events = following(store);
    assert.deepEqual(await seqsOf(events, 3), [1, 2, 3]);
    const next = seqsOf(events, 4);
    await say(store, 4, 5);
    await say(store, 6, 7);
    assert.deepEqual(await next, [4, 5, 6, 7]);
    await events.return?.();
  }),

  inStore("a follower starts in the middle where it is told to", async (store) => {
    await openSession(store, ["2", "3", "4"]);
    const events = following(store, 2);
    assert.deepEqual(await seqsOf(events, 2), [3, 4]);
    await events.return?.();
  }),

  inStore("a follower that starts beyond the head waits for what is behind its cursor", async (store) => {
    await openSession(store);
    const events = following(store, 3);
    const next = seqsOf(events, 2);
    await say(store, 2, 5);
    assert.deepEqual(await next, [4, 5]);
    await events.return?.();
  }),

  inStore("a slow follower misses nothing and holds nobody up", async (store) => {
    await openSession(store);
    const events = following(store);
    assert.deepEqual(await seqsOf(events, 1), [1]);
    await say(store, 2, 2_500);
    assert.deepEqual(await seqsOf(events, 2_499), numbers(2, 2_500));
    await events.return?.();
  }),

  inStore("many followers each see everything", async (store) => {
    await openSession(store);
    const followers = numbers(1, 40).map(() => following(store));
    const seen = followers.map((events) => seqsOf(events, 300));
    await say(store, 2, 150);
    await say(store, 151, 300);
    for (const seqs of await Promise.all(seen)) assert.deepEqual(seqs, numbers(1, 300));
    for (const events of followers) await events.return?.();
  }),

  inStore("a follower sees an append that is made while it looks", async (store) => {
    await openSession(store);
    const events = following(store);
    for (const seq of numbers(2, 200)) {
      const next = seqsOf(events, 1);
      if (seq % 3 === 0) await Promise.resolve();
      if (seq % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
      const appended = store.append(appendOf(seq - 1, [says(String(seq))]));
      assert.deepEqual(await next, [seq - 1]);
      await appended;
    }
    await events.return?.();
  }),

  inStore("a signal ends a follower quietly, whether it waits, reads or has not begun", async (store) => {
    await openSession(store, ["2", "3"]);
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

  inStore("leaving a follower ends it although it waits", async (store) => {
    await openSession(store);
    const events = following(store, 1);
    const next = events.next();
    await events.return?.();
    assert.deepEqual(await next, { done: true, value: undefined });
  }),

  inStore("following a session that does not exist is refused at the first step", async (store) => {
    await refuses("session_not_found", following(store).next());
  }),
];
