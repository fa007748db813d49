/** Contract of leases: one writer at a time, and a superseded writer is rejected. */
import assert from "node:assert/strict";
import type { Lease, LeaseRequest } from "../../domain/index.ts";
import {
  newAppend,
  numbers,
  sessionOpened,
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
    assert.deepEqual(await store.renewLeases([first], 900), [undefined]);
    assert.deepEqual(await store.currentLease(SESSION), second);
  }),

  storeCase("renews the newest lease, even after it expired", async (store) => {
    const lease = await store.acquireLease(request);
    assert.deepEqual(await store.renewLeases([lease], 300), [{ ...lease, until: 300 }]);
    await assertRejectsWith("session_in_use", store.acquireLease({ ...request, owner: "b", now: 250 }));
    assert.deepEqual(await store.renewLeases([lease], 900), [{ ...lease, until: 900 }]);
    await store.acquireLease({ ...request, owner: "b", now: 1000, until: 1100 });
    assert.deepEqual(await store.renewLeases([lease], 2000), [undefined]);
    assert.equal((await store.currentLease(SESSION))?.until, 1100);
  }),

  storeCase("renews the valid ones of many leases and returns undefined for each lost one, in order", async (store) => {
    const acquire = (index: number, more: Partial<LeaseRequest> = {}) =>
      store.acquireLease({ ...request, sessionId: `ses_${index}`, owner: `o${index}`, ...more });
    const leases = await Promise.all(numbers(1, 7).map((index) => acquire(index)));
    await acquire(2, { owner: "b", now: 200, until: 999 });
    await store.releaseLease(leases[3] as Lease);
    await store.append(newAppend(0, [sessionOpened()], { sessionId: "ses_6" }));
    await store.delete(leases[5] as Lease);
    const missing = { sessionId: "ses_none", owner: "a", generation: 1, until: 200 };
    const lost = [2, 4, 6, 8];
    assert.deepEqual(
      await store.renewLeases([...leases, missing], 700),
      [...leases, missing].map((lease, index) => (lost.includes(index + 1) ? undefined : { ...lease, until: 700 })),
    );
    const untils = await Promise.all(numbers(1, 8).map(async (n) => (await store.currentLease(`ses_${n}`))?.until));
    assert.deepEqual(untils, [700, 999, 700, undefined, 700, undefined, 700, undefined]);
  }),

  storeCase("accepts an empty list of leases, and a lease that is listed twice", async (store) => {
    assert.deepEqual(await store.renewLeases([], 300), []);
    const old = await store.acquireLease(request);
    const lease = await store.acquireLease(request);
    const renewed = { ...lease, until: 300 };
    assert.deepEqual(await store.renewLeases([lease, old, lease], 300), [renewed, undefined, renewed]);
    assert.deepEqual(await store.currentLease(SESSION), renewed);
  }),

  storeCase("renews thousands of leases with one call", async (store) => {
    const first = await store.acquireLease({ ...request, sessionId: "ses_first" });
    const last = await store.acquireLease({ ...request, sessionId: "ses_last" });
    const missing = numbers(1, 12_000).map((index) => ({ ...first, sessionId: `ses_missing_${index}` }));
    const renewed = await store.renewLeases([first, ...missing, last], 300);
    assert.equal(renewed.length, 12_002);
    assert.deepEqual(renewed[0], { ...first, until: 300 });
    assert.equal(
      renewed.slice(1, -1).find((lease) => lease !== undefined),
      undefined,
    );
    assert.deepEqual(renewed.at(-1), { ...last, until: 300 });
  }),

  storeCase("frees a released lease immediately and never reuses its generation", async (store) => {
    const lease = await store.acquireLease(request);
    await store.releaseLease(lease);
    await store.releaseLease(lease);
    assert.equal(await store.currentLease(SESSION), undefined);
    assert.deepEqual(await store.renewLeases([lease], 300), [undefined]);
    assert.equal(await store.currentLease(SESSION), undefined);
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
