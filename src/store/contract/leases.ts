/** The contract of leases: one writer at a time, and one who was replaced cannot write any more. */
import assert from "node:assert/strict";
import { appendOf, inStore, openSession, refuses, says, SESSION, textsIn } from "./scene.ts";

const asked = { sessionId: SESSION, owner: "a", now: 100, until: 200 };

export const leaseCases = [
  inStore("a lease is granted, is current, and can be granted before the session exists", async (store) => {
    assert.equal(await store.currentLease(SESSION), undefined);
    const lease = await store.acquireLease(asked);
    assert.deepEqual(lease, { sessionId: SESSION, owner: "a", generation: 1, until: 200 });
    assert.deepEqual(await store.currentLease(SESSION), lease);
    assert.equal(await store.currentLease("ses_other"), undefined);
  }),

  inStore("a session that another owner holds is in use until the lease ends", async (store) => {
    await store.acquireLease(asked);
    await refuses("session_in_use", store.acquireLease({ ...asked, owner: "b", now: 199, until: 300 }));
    assert.equal((await store.currentLease(SESSION))?.owner, "a");
    const next = await store.acquireLease({ ...asked, owner: "b", now: 200, until: 300 });
    assert.deepEqual(next, { sessionId: SESSION, owner: "b", generation: 2, until: 300 });
  }),

  inStore("of two who ask at once one gets the lease", async (store) => {
    const both = await Promise.allSettled([store.acquireLease(asked), store.acquireLease({ ...asked, owner: "b" })]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  }),

  inStore("the lease of a dead owner is superseded by naming its generation", async (store) => {
    const dead = await store.acquireLease(asked);
    const other = { ...asked, owner: "b" };
    await refuses("session_in_use", store.acquireLease({ ...other, supersede: dead.generation + 1 }));
    assert.equal((await store.acquireLease({ ...other, supersede: dead.generation })).generation, 2);
    await refuses("session_in_use", store.acquireLease({ ...other, owner: "c", supersede: dead.generation }));
  }),

  inStore("an owner that asks again gets a new generation, which ends its old one", async (store) => {
    const first = await store.acquireLease(asked);
    const second = await store.acquireLease(asked);
    assert.equal(second.generation, first.generation + 1);
    await refuses("lease_lost", store.renewLease(first, 900));
  }),

  inStore("a lease is renewed while it is the newest, also late", async (store) => {
    const lease = await store.acquireLease(asked);
    const renewed = await store.renewLease(lease, 300);
    assert.deepEqual(renewed, { ...lease, until: 300 });
    await refuses("session_in_use", store.acquireLease({ ...asked, owner: "b", now: 250 }));
    assert.equal((await store.renewLease(renewed, 900)).until, 900);
    await store.acquireLease({ ...asked, owner: "b", now: 1000, until: 1100 });
    await refuses("lease_lost", store.renewLease(renewed, 2000));
    assert.equal((await store.currentLease(SESSION))?.until, 1100);
  }),

  inStore("a released lease is free at once, and its generation never comes again", async (store) => {
    const lease = await store.acquireLease(asked);
    await store.releaseLease(lease);
    await store.releaseLease(lease);
    assert.equal(await store.currentLease(SESSION), undefined);
    await refuses("lease_lost", store.renewLease(lease, 300));
    const next = await store.acquireLease({ ...asked, owner: "b" });
    assert.equal(next.generation, 2);
    await store.releaseLease(lease);
    assert.deepEqual(await store.currentLease(SESSION), next);
  }),

  inStore("a writer whose lease was superseded is refused, and one without a lease is not", async (store) => {
    await openSession(store);
    const old = await store.acquireLease(asked);
    await store.append(appendOf(1, [says("old")], { fence: old.generation }));
    const current = await store.acquireLease({ ...asked, owner: "b", supersede: old.generation });
    await refuses("lease_lost", store.append(appendOf(2, [says("zombie")], { fence: old.generation })));
    await refuses("lease_lost", store.append(appendOf(2, [says("future")], { fence: 99 })));
    await store.append(appendOf(2, [says("answer")]));
    await store.append(appendOf(3, [says("new")], { fence: current.generation }));
    assert.deepEqual(await textsIn(store), ["session.opened", "old", "answer", "new"]);
  }),
];
