/** The contract of idempotency keys: kept in the commit of what their request made, for a day, and not without end. */
import assert from "node:assert/strict";
import { KEPT_REQUEST_MS, MAX_KEPT_REQUESTS, type Store } from "../../domain/index.ts";
import { withRequestKey } from "../../stdx/request-key.ts";
import { appendOf, createTask, inStore, numbers, openSession, opening, refuses, says, SESSION, TASK } from "./scene.ts";

const REQUEST = { key: "key-1", digest: "d1", at: 1_000 };
const isText = ({ type }: { readonly type: string }) => type === "output.text";

async function madeBy(store: Store, key: string): Promise<unknown> {
  return (await store.keptRequest(key))?.made;
}

export const requestCases = [
  inStore("a key is kept with the event that its request made, and with no other", async (store) => {
    await openSession(store);
    await withRequestKey(REQUEST, isText, async () => {
      await store.append(appendOf(0, [opening()], { sessionId: "ses_other" }));
      assert.equal(await store.keptRequest("key-1"), undefined);
      await store.append(appendOf(1, [opening(), says("made")]));
      await store.append(appendOf(3, [says("later")]));
    });
    await store.append(appendOf(4, [says("without a key")]));
    const { response, ...kept } = (await store.keptRequest("key-1")) ?? {};
    assert.deepEqual(kept, { ...REQUEST, made: { log: "session", id: SESSION, seq: 3 } });
    assert.equal(response, undefined);
    assert.equal(await store.keptRequest("key-2"), undefined);
  }),

  inStore("an append that is refused keeps no key", async (store) => {
    await openSession(store);
    await withRequestKey(REQUEST, isText, () => refuses("append_conflict", store.append(appendOf(7, [says("x")]))));
    assert.equal(await store.keptRequest("key-1"), undefined);
  }),

  inStore("a key of a task is kept too, and what was responded is added to it", async (store) => {
    await withRequestKey(
      REQUEST,
      ({ type }) => type === "task.created",
      () => createTask(store),
    );
    await store.keepResponse(REQUEST, "{}");
    await store.keepResponse({ ...REQUEST, digest: "of another request" }, "wrong");
    assert.deepEqual(await madeBy(store, "key-1"), { log: "task", id: TASK, seq: 1 });
    assert.equal((await store.keptRequest("key-1"))?.response, "{}");
    await store.keepResponse({ ...REQUEST, key: "key-2" }, "[]");
    assert.equal((await store.keptRequest("key-2"))?.response, "[]");
  }),

  inStore("a key of a deletion is kept, and outlasts the session", async (store) => {
    await openSession(store);
    const lease = await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 10 });
    const isDeletion = ({ type }: { readonly type: string }, id: string) =>
      type === "session.deleted" && id === SESSION;
    await withRequestKey(REQUEST, isDeletion, () => store.delete(lease));
    assert.deepEqual(await madeBy(store, "key-1"), { log: "session", id: SESSION, seq: 0 });
  }),

  inStore("keys are forgotten after a day", async (store) => {
    await store.keepResponse(REQUEST, "1");
    await store.keepResponse({ ...REQUEST, key: "key-2", at: REQUEST.at + KEPT_REQUEST_MS }, "2");
    assert.equal((await store.keptRequest("key-1"))?.response, "1");
    await store.keepResponse({ ...REQUEST, key: "key-3", at: REQUEST.at + KEPT_REQUEST_MS + 1 }, "3");
    assert.equal(await store.keptRequest("key-1"), undefined);
    assert.equal((await store.keptRequest("key-2"))?.response, "2");
  }),

  inStore("of more keys than are kept the oldest are forgotten", async (store) => {
    await openSession(store);
    const count = MAX_KEPT_REQUESTS + 5;
    await Promise.all(
      numbers(1, count).map((number) =>
        withRequestKey({ ...REQUEST, key: `key-${number}` }, isText, () =>
          store.append(appendOf(number, [says(`${number}`)])),
        ),
      ),
    );
    assert.equal(await store.keptRequest("key-5"), undefined);
    assert.deepEqual(await madeBy(store, "key-6"), { log: "session", id: SESSION, seq: 7 });
    assert.deepEqual(await madeBy(store, `key-${count}`), { log: "session", id: SESSION, seq: count + 1 });
  }),
];
