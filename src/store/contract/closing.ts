/** Contract of closing: running appends finish, and new calls are rejected. */
import assert from "node:assert/strict";
import {
  newAppend,
  createTask,
  storeCase,
  numbers,
  writeTestSession,
  assertRejectsWith,
  outputText,
  SESSION,
  TASK,
} from "./scene.ts";

export const closingCases = [
  storeCase("waits for earlier appends on close", async (store) => {
    await writeTestSession(store);
    const appends = numbers(1, 50).map((head) => store.append(newAppend(head, [outputText(String(head))])));
    await store[Symbol.asyncDispose]();
    assert.deepEqual(
      (await Promise.all(appends)).map(({ head }) => head),
      numbers(2, 51),
    );
  }),

  storeCase("ends every follower without an error on close", async (store) => {
    await writeTestSession(store);
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

  storeCase("can be closed twice, and rejects every later call with store_closed", async (store) => {
    await writeTestSession(store);
    const lease = await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 });
    await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()]);
    await store[Symbol.asyncDispose]();
    const late = [
      () => store.append(newAppend(1, [outputText("late")])),
      () => store.read({ sessionId: SESSION }),
      () => store.summary(SESSION),
      () => store.list(),
      () => store.check(),
      () => store.countSessions(),
      () => store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 1 }),
      () => store.renewLeases([lease], 2),
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
      () => store.heldTasks(),
      () => store.claimTask({ owner: "a", now: 0, until: 1, choose: () => undefined }),
      () => store.readFeed({ after: 0 }),
    ];
    for (const call of late) await assertRejectsWith("store_closed", call());
  }),
];
