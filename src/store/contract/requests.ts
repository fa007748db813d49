/** Contract of idempotency keys: committed with the event of their request, kept for a day, and bounded. */
import assert from "node:assert/strict";
import { KEPT_REQUEST_MS, MAX_KEPT_REQUESTS, type Store } from "../../domain/index.ts";
import { withRequestKey } from "../../stdx/request-key.ts";
import {
  newAppend,
  createTask,
  storeCase,
  numbers,
  writeTestSession,
  sessionOpened,
  assertRejectsWith,
  outputText,
  SESSION,
  TASK,
} from "./scene.ts";

const REQUEST = { key: "key-1", digest: "d1", at: 1_000 };
const isText = ({ type }: { readonly type: string }) => type === "output.text";

async function madeBy(store: Store, key: string): Promise<unknown> {
  return (await store.keptRequest(key))?.made;
}

export const requestCases = [
  storeCase("stores a key with the event that completes its request", async (store) => {
    await writeTestSession(store);
    await withRequestKey(REQUEST, isText, async () => {
      await store.append(newAppend(0, [sessionOpened()], { sessionId: "ses_other" }));
      assert.equal(await store.keptRequest("key-1"), undefined);
      await store.append(newAppend(1, [sessionOpened(), outputText("made")]));
      await store.append(newAppend(3, [outputText("later")]));
    });
    await store.append(newAppend(4, [outputText("without a key")]));
    const { response, ...kept } = (await store.keptRequest("key-1")) ?? {};
    assert.deepEqual(kept, { ...REQUEST, made: { log: "session", id: SESSION, seq: 3 } });
    assert.equal(response, undefined);
    assert.equal(await store.keptRequest("key-2"), undefined);
  }),

  storeCase("stores no key for a rejected append", async (store) => {
    await writeTestSession(store);
    await withRequestKey(REQUEST, isText, () =>
      assertRejectsWith("append_conflict", store.append(newAppend(7, [outputText("x")]))),
    );
    assert.equal(await store.keptRequest("key-1"), undefined);
  }),

  storeCase("stores a key for a task and adds the response later", async (store) => {
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

  storeCase("keeps the key of a deletion after the session is gone", async (store) => {
    await writeTestSession(store);
    const lease = await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 10 });
    const isDeletion = ({ type }: { readonly type: string }, id: string) =>
      type === "session.deleted" && id === SESSION;
    await withRequestKey(REQUEST, isDeletion, () => store.delete(lease));
    assert.deepEqual(await madeBy(store, "key-1"), { log: "session", id: SESSION, seq: 0 });
  }),

  storeCase("deletes keys after a day", async (store) => {
    await store.keepResponse(REQUEST, "1");
    await store.keepResponse({ ...REQUEST, key: "key-2", at: REQUEST.at + KEPT_REQUEST_MS }, "2");
    assert.equal((await store.keptRequest("key-1"))?.response, "1");
    await store.keepResponse({ ...REQUEST, key: "key-3", at: REQUEST.at + KEPT_REQUEST_MS + 1 }, "3");
    assert.equal(await store.keptRequest("key-1"), undefined);
    assert.equal((await store.keptRequest("key-2"))?.response, "2");
  }),

  storeCase("deletes the oldest keys beyond the limit", async (store) => {
    await writeTestSession(store);
    const count = MAX_KEPT_REQUESTS + 5;
    await Promise.all(
      numbers(1, count).map((number) =>
        withRequestKey({ ...REQUEST, key: `key-${number}` }, isText, () =>
          store.append(newAppend(number, [outputText(`${number}`)])),
        ),
      ),
    );
    assert.equal(await store.keptRequest("key-5"), undefined);
    assert.deepEqual(await madeBy(store, "key-6"), { log: "session", id: SESSION, seq: 7 });
    assert.deepEqual(await madeBy(store, `key-${count}`), { log: "session", id: SESSION, seq: count + 1 });
  }),
];
