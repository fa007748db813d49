/** Contract of leases: one writer at a time, and a superseded writer is rejected. */
import assert from "node:assert/strict";
import {
  newAppend,
  storeCase,
  writeTestSession,
  assertRejectsWith,
  outputText,
  SESSION,
  readSessionTexts,
} from "./scene.ts";

const request = { sessionId: SESSION, owner: "a", now: 100, until: 200 };

export const leaseCases = [
  storeCase("grants a lease before the session exists and returns it as current", async (store) => {
    assert.equal(await store.currentLease(SESSION), undefined);
    const lease = await store.acquireLease(request);
    assert.deepEqual(lease, { sessionId: SESSION, owner: "a", generation: 1, until: 200 });
    assert.deepEqual(await store.currentLease(SESSION), lease);
    assert.equal(await store.currentLease("ses_other"), undefined);
  }),

  storeCase("rejects a second owner with session_in_use until the lease expires", async (store) => {
    await store.acquireLease(request);
    await assertRejectsWith("session_in_use", store.acquireLease({ ...request, owner: "b", now: 199, until: 300 }));
    assert.equal((await store.currentLease(SESSION))?.owner, "a");
    const next = await store.acquireLease({ ...request, owner: "b", now: 200, until: 300 });
    assert.deepEqual(next, { sessionId: SESSION, owner: "b", generation: 2, until: 300 });
  }),

  storeCase("grants the lease to one of two concurrent owners", async (store) => {
    const both = await Promise.allSettled([
      store.acquireLease(request),
      store.acquireLease({ ...request, owner: "b" }),
    ]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  }),

  storeCase("supersedes the lease of a dead owner by its generation", async (store) => {
    const dead = await store.acquireLease(request);
    const other = { ...request, owner: "b" };
    await assertRejectsWith("session_in_use", store.acquireLease({ ...other, supersede: dead.generation + 1 }));
    assert.equal((await store.acquireLease({ ...other, supersede: dead.generation })).generation, 2);
    await assertRejectsWith("session_in_use", store.acquireLease({ ...other, owner: "c", supersede: dead.generation }));
  }),

  storeCase("grants an owner a new generation that invalidates its old one", async (store) => {
    const first = await store.acquireLease(request);
    const second = await store.acquireLease(request);
    assert.equal(second.generation, first.generation + 1);
    await assertRejectsWith("lease_lost", store.renewLease(first, 900));
  }),

  storeCase("renews the newest lease, even after it expired", async (store) => {
    const lease = await store.acquireLease(request);
    const renewed = await store.renewLease(lease, 300);
    assert.deepEqual(renewed, { ...lease, until: 300 });
    await assertRejectsWith("session_in_use", store.acquireLease({ ...request, owner: "b", now: 250 }));
    assert.equal((await store.renewLease(renewed, 900)).until, 900);
    await store.acquireLease({ ...request, owner: "b", now: 1000, until: 1100 });
    await assertRejectsWith("lease_lost", store.renewLease(renewed, 2000));
    assert.equal((await store.currentLease(SESSION))?.until, 1100);
  }),

  storeCase("frees a released lease immediately and never reuses its generation", async (store) => {
    const lease = await store.acquireLease(request);
    await store.releaseLease(lease);
    await store.releaseLease(lease);
    assert.equal(await store.currentLease(SESSION), undefined);
    await assertRejectsWith("lease_lost", store.renewLease(lease, 300));
    const next = await store.acquireLease({ ...request, owner: "b" });
    assert.equal(next.generation, 2);
    await store.releaseLease(lease);
    assert.deepEqual(await store.currentLease(SESSION), next);
  }),

  storeCase("rejects a superseded writer with lease_lost, but not a writer without a lease", async (store) => {
    await writeTestSession(store);
    const old = await store.acquireLease(request);
    await store.append(newAppend(1, [outputText("old")], { fence: old.generation }));
    const current = await store.acquireLease({ ...request, owner: "b", supersede: old.generation });
    await assertRejectsWith(
      "lease_lost",
      store.append(newAppend(2, [outputText("zombie")], { fence: old.generation })),
    );
    await assertRejectsWith("lease_lost", store.append(newAppend(2, [outputText("future")], { fence: 99 })));
    await store.append(newAppend(2, [outputText("answer")]));
    await store.append(newAppend(3, [outputText("new")], { fence: current.generation }));
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "old", "answer", "new"]);
  }),
];
