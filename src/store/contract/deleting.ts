/** The contract of deleting: a session goes wholly or not at all, and only by the hand of whoever holds its lease. */
import assert from "node:assert/strict";
import type { Lease, SessionStore } from "../../domain/index.ts";
import { appendOf, draft, inStore, openSession, opening, refuses, says, SESSION, take, textsIn } from "./scene.ts";

const OTHER = "ses_0000000002bbbbbbbbbbbb";
const KEY = { sessionId: SESSION, turnId: "trn_1", step: 0, kind: "tool", id: "call" } as const;

function lease(store: SessionStore, sessionId = SESSION): Promise<Lease> {
  return store.acquireLease({ sessionId, owner: "a", now: 0, until: 100 });
}

export const deleteCases = [
  inStore("a deleted session is as if it had never been, and its neighbours stay", async (store) => {
    const first = appendOf(0, [opening(), says("mine")]);
    await store.append(first);
    await store.append(appendOf(2, [], { journal: [{ op: "start", key: KEY }] }));
    await store.append(appendOf(0, [opening(), says("theirs")], { sessionId: OTHER }));
    const theirs = await lease(store, OTHER);
    await store.delete(await lease(store));

    assert.equal(await store.summary(SESSION), undefined);
    assert.deepEqual(
      (await store.list()).map(({ id }) => id),
      [OTHER],
    );
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    assert.equal(await store.currentLease(SESSION), undefined);
    await refuses("session_not_found", store.read({ sessionId: SESSION }));
    await refuses("session_not_found", store.append(appendOf(2, [says("late")])));
    assert.deepEqual(await store.currentLease(OTHER), theirs);
    assert.equal((await store.read({ sessionId: OTHER })).head, 2);

    assert.deepEqual(await store.append(first), { head: 2, repeated: false }); // its append ids are forgotten too
    assert.deepEqual(await textsIn(store), ["session.opened", "mine"]);
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    assert.equal((await lease(store)).generation, 1);
  }),

  inStore("what is not there cannot be deleted, nor what is gone already", async (store) => {
    await refuses("session_not_found", store.delete(await lease(store)));
    await openSession(store);
    const held = await lease(store);
    await store.delete(held);
    await refuses("session_not_found", store.delete(held));
  }),

  inStore("only the holder of the newest lease deletes", async (store) => {
    await openSession(store, ["kept"]);
    const old = await lease(store);
    const current = await store.acquireLease({ sessionId: SESSION, owner: "b", now: 200, until: 300 });
    await refuses("lease_lost", store.delete(old));
    await store.releaseLease(current);
    await refuses("lease_lost", store.delete(current));
    assert.deepEqual(await textsIn(store), ["session.opened", "kept"]);
  }),

  inStore("of two who delete at once one succeeds, and the other is told that it is gone", async (store) => {
    await openSession(store);
    const held = await lease(store);
    const both = await Promise.allSettled([store.delete(held), store.delete(held)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    const refused = both.find((answer) => answer.status === "rejected");
    assert.equal((refused?.reason as { code?: string }).code, "session_not_found");
  }),

  inStore("an append that is under way with the delete comes before it or is refused", async (store) => {
    await openSession(store);
    const held = await lease(store);
    const fenced = appendOf(1, [says("racing")], { fence: held.generation });
    const [, appended] = await Promise.allSettled([store.delete(held), store.append(fenced)]);
    if (appended.status === "rejected") assert.equal((appended.reason as { code?: string }).code, "session_not_found");
    assert.equal(await store.summary(SESSION), undefined);
  }),

  inStore("its followers fail, whether they wait, are in the middle or begin then", async (store) => {
    await openSession(store, ["2", "3"]);
    const follow = (after: number) => store.follow({ sessionId: SESSION, after })[Symbol.asyncIterator]();
    const [waiting, beyond, begun, late] = [follow(3), follow(9), follow(0), follow(0)];
    const next = [refuses("session_not_found", waiting.next()), refuses("session_not_found", beyond.next())];
    await begun.next();
    await store.delete(await lease(store));
    await Promise.all(next);
    assert.equal((await take(begun, 2)).length, 2); // the page that it has
    await refuses("session_not_found", begun.next());
    await refuses("session_not_found", late.next());
  }),

  inStore("its blobs stay for whoever has the same", async (store) => {
    const { hash } = await store.putBlob(Uint8Array.of(1, 2, 3));
    const input = [{ type: "blob" as const, hash, mediaType: "image/png" }];
    await openSession(store);
    await store.append(appendOf(1, [draft({ type: "turn.started", input })]));
    await store.delete(await lease(store));
    assert.equal((await store.getBlob(hash))?.length, 3);
  }),
];
