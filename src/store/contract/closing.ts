/** The contract of closing: what was begun is finished, and nothing is begun any more. */
import assert from "node:assert/strict";
import { appendOf, createTask, inStore, numbers, openSession, refuses, says, SESSION, TASK } from "./scene.ts";

export const closingCases = [
  inStore("closing waits for the appends that were made before it", async (store) => {
    await openSession(store);
    const appends = numbers(1, 50).map((head) => store.append(appendOf(head, [says(String(head))])));
    await store[Symbol.asyncDispose]();
    assert.deepEqual(
      (await Promise.all(appends)).map(({ head }) => head),
      numbers(2, 51),
    );
  }),

  inStore("closing ends every follower quietly", async (store) => {
    await openSession(store);
    const waiting = store.follow({ sessionId: SESSION, after: 1 })[Symbol.asyncIterator]();
    const begun = store.follow({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]();
    const next = waiting.next();
    await begun.next();
    await store[Symbol.asyncDispose]();
    assert.deepEqual(await next, { done: true, value: undefined });
    assert.deepEqual(await begun.next(), { done: true, value: undefined });
    const late = store.follow({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]();
    assert.deepEqual(await late.next(), { done: true, value: undefined });
  }),

  inStore("closing twice is fine, also at once, and everything else is refused afterwards", async (store) => {
    await openSession(store);
    const lease = await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 });
    await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()]);
    await store[Symbol.asyncDispose]();
    const late = [
      () => store.append(appendOf(1, [says("late")])),
      () => store.read({ sessionId: SESSION }),
      () => store.summary(SESSION),
      () => store.list(),
      () => store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }),
      () => store.renewLease(lease, 2),
      () => store.releaseLease(lease),
      () => store.currentLease(SESSION),
      () => store.delete(lease),
      () => store.journal(SESSION, "trn_1"),
      () => store.putBlob(new Uint8Array()),
      () => store.getBlob("sha256:0"),
      () => createTask(store),
      () => store.readTask({ taskId: TASK }),
      () => store.task(TASK),
      () => store.tasks(),
      () => store.countTasks(),
      () => store.claimTask({ owner: "a", now: 0, until: 1, choose: () => undefined }),
      () => store.readFeed({ after: 0 }),
    ];
    for (const call of late) await refuses("store_closed", call());
  }),
];
