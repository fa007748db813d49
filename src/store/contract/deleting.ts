/** Contract of deletion: atomic, and allowed only for the holder of the lease. */
import assert from "node:assert/strict";
import type { Lease, SessionStore } from "../../domain/index.ts";
import {
  newAppend,
  toEventDraft,
  storeCase,
  writeTestSession,
  sessionOpened,
  assertRejectsWith,
  outputText,
  SESSION,
  takeNextEvents,
  readSessionTexts,
} from "./scene.ts";

const OTHER = "ses_0000000002bbbbbbbbbbbb";
const KEY = { sessionId: SESSION, turnId: "trn_1", step: 0, kind: "tool", id: "call" } as const;

function lease(store: SessionStore, sessionId = SESSION): Promise<Lease> {
  return store.acquireLease({ sessionId, owner: "a", now: 0, until: 100 });
}

export const deleteCases = [
  storeCase("removes every trace of a deleted session and keeps the others", async (store) => {
    const first = newAppend(0, [sessionOpened(), outputText("mine")]);
    await store.append(first);
    await store.append(newAppend(2, [], { journal: [{ op: "start", key: KEY }] }));
    await store.append(newAppend(0, [sessionOpened(), outputText("theirs")], { sessionId: OTHER }));
    const theirs = await lease(store, OTHER);
    await store.delete(await lease(store));

    assert.equal(await store.summary(SESSION), undefined);
    assert.deepEqual(
      (await store.list()).map(({ id }) => id),
      [OTHER],
    );
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    assert.equal(await store.currentLease(SESSION), undefined);
    await assertRejectsWith("session_not_found", store.read({ sessionId: SESSION }));
    await assertRejectsWith("session_not_found", store.append(newAppend(2, [outputText("late")])));
    assert.deepEqual(await store.currentLease(OTHER), theirs);
    assert.equal((await store.read({ sessionId: OTHER })).head, 2);

    assert.deepEqual(await store.append(first), { head: 2, repeated: false }); // its append ids are deleted too
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "mine"]);
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    assert.equal((await lease(store)).generation, 1);
  }),

  storeCase("rejects deletion of a missing session with session_not_found", async (store) => {
    await assertRejectsWith("session_not_found", store.delete(await lease(store)));
    await writeTestSession(store);
    const held = await lease(store);
    await store.delete(held);
    await assertRejectsWith("session_not_found", store.delete(held));
  }),

  storeCase("rejects deletion without the newest lease", async (store) => {
    await writeTestSession(store, ["kept"]);
    const old = await lease(store);
    const current = await store.acquireLease({ sessionId: SESSION, owner: "b", now: 200, until: 300 });
    await assertRejectsWith("lease_lost", store.delete(old));
    await store.releaseLease(current);
    await assertRejectsWith("lease_lost", store.delete(current));
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "kept"]);
  }),

  storeCase(
    "lets one of two concurrent deletions succeed and rejects the other with session_not_found",
    async (store) => {
      await writeTestSession(store);
      const held = await lease(store);
      const both = await Promise.allSettled([store.delete(held), store.delete(held)]);
      assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      const refused = both.find((answer) => answer.status === "rejected");
      assert.equal((refused?.reason as { code?: string }).code, "session_not_found");
    },
  ),

  storeCase("commits a concurrent append before the deletion or rejects it", async (store) => {
    await writeTestSession(store);
    const held = await lease(store);
    const fenced = newAppend(1, [outputText("racing")], { fence: held.generation });
    const [, appended] = await Promise.allSettled([store.delete(held), store.append(fenced)]);
    if (appended.status === "rejected") assert.equal((appended.reason as { code?: string }).code, "session_not_found");
    assert.equal(await store.summary(SESSION), undefined);
  }),

  storeCase("fails all followers of a deleted session with session_not_found", async (store) => {
    await writeTestSession(store, ["2", "3"]);
    const follow = (after: number) => store.follow({ sessionId: SESSION, after })[Symbol.asyncIterator]();
    const [waiting, beyond, begun, late] = [follow(3), follow(9), follow(0), follow(0)];
    const next = [
      assertRejectsWith("session_not_found", waiting.next()),
      assertRejectsWith("session_not_found", beyond.next()),
    ];
    await begun.next();
    await store.delete(await lease(store));
    await Promise.all(next);
    assert.equal((await takeNextEvents(begun, 2)).length, 2); // the page it has already read
    await assertRejectsWith("session_not_found", begun.next());
    await assertRejectsWith("session_not_found", late.next());
  }),

  storeCase("keeps the blobs of a deleted session", async (store) => {
    const { hash } = await store.putBlob(Uint8Array.of(1, 2, 3));
    const input = [{ type: "blob" as const, hash, mediaType: "image/png" }];
    await writeTestSession(store);
    await store.append(newAppend(1, [toEventDraft({ type: "turn.started", input })]));
    await store.delete(await lease(store));
    assert.equal((await store.getBlob(hash))?.length, 3);
  }),
];
