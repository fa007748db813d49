/** Contract of reads: pages in both directions, within bounds and size limits. */
import assert from "node:assert/strict";
import type { ReadQuery, SessionStore } from "../../domain/index.ts";
import { newAppend, largeStoreCase, storeCase, numbers, writeTestSession, outputText, SESSION } from "./scene.ts";

async function seqs(store: SessionStore, query: Omit<ReadQuery, "sessionId">): Promise<number[]> {
  const { events, head } = await store.read({ sessionId: SESSION, ...query });
  assert.equal(head, (await store.summary(SESSION))?.head);
  return events.map(({ seq }) => seq);
}

async function filled(store: SessionStore, head: number): Promise<void> {
  await writeTestSession(store, numbers(2, head).map(String));
}

export const readCases = [
  storeCase("starts a page after its cursor and honors its limit", async (store) => {
    await filled(store, 10);
    assert.deepEqual(await seqs(store, {}), numbers(1, 10));
    assert.deepEqual(await seqs(store, { after: 0, limit: 3 }), [1, 2, 3]);
    assert.deepEqual(await seqs(store, { after: 3, limit: 3 }), [4, 5, 6]);
    assert.deepEqual(await seqs(store, { after: 9, limit: 3 }), [10]);
    assert.deepEqual(await seqs(store, { after: 10 }), []);
    assert.deepEqual(await seqs(store, { after: 99 }), []);
    assert.deepEqual(await seqs(store, { limit: 0 }), []);
  }),

  storeCase("reads pages backwards from the end or from a bound", async (store) => {
    await filled(store, 10);
    assert.deepEqual(await seqs(store, { order: "newest_first", limit: 3 }), [10, 9, 8]);
    assert.deepEqual(await seqs(store, { order: "newest_first", before: 8, limit: 3 }), [7, 6, 5]);
    assert.deepEqual(await seqs(store, { order: "newest_first", before: 3 }), [2, 1]);
    assert.deepEqual(await seqs(store, { order: "newest_first", before: 1 }), []);
    assert.deepEqual(await seqs(store, { order: "newest_first", before: 99, limit: 1 }), [10]);
  }),

  storeCase("treats both bounds as exclusive in both directions", async (store) => {
    await filled(store, 10);
    assert.deepEqual(await seqs(store, { after: 3, before: 7 }), [4, 5, 6]);
    assert.deepEqual(await seqs(store, { after: 3, before: 7, limit: 2 }), [4, 5]);
    assert.deepEqual(await seqs(store, { after: 3, before: 7, order: "newest_first" }), [6, 5, 4]);
    assert.deepEqual(await seqs(store, { after: 3, before: 7, order: "newest_first", limit: 2 }), [6, 5]);
    assert.deepEqual(await seqs(store, { after: 7, before: 3 }), []);
    assert.deepEqual(await seqs(store, { after: 3, before: 4 }), []);
  }),

  storeCase("limits a page to 1,000 events by default and to 10,000 at most", async (store) => {
    await filled(store, 10_500);
    assert.deepEqual(await seqs(store, {}), numbers(1, 1_000));
    assert.deepEqual(await seqs(store, { limit: 50_000 }), numbers(1, 10_000));
    assert.deepEqual(await seqs(store, { limit: 50_000, order: "newest_first" }), numbers(501, 10_500).reverse());
  }),

  largeStoreCase("ends a page of huge events early, never empty and without gaps", async (store) => {
    await writeTestSession(store);
    for (const head of numbers(1, 12)) await store.append(newAppend(head, [outputText("x".repeat(3_000_000))]));
    for (const order of ["oldest_first", "newest_first"] as const) {
      const seen: number[] = [];
      while (seen.length < 13) {
        const from = seen.at(-1);
        const bound = from === undefined ? {} : order === "oldest_first" ? { after: from } : { before: from };
        const page = await seqs(store, { order, ...bound });
        assert.equal(page.length > 0 && page.length < 10, true, `${page.length} events of 3 MB in one page`);
        seen.push(...page);
      }
      assert.deepEqual(seen, order === "oldest_first" ? numbers(1, 13) : numbers(1, 13).reverse());
    }
  }),

  storeCase("keeps the logs of two sessions separate", async (store) => {
    await filled(store, 3);
    await store.append({ ...newAppend(0, [{ ...(await opened(store)) }]), sessionId: "ses_other" });
    assert.deepEqual(await seqs(store, {}), [1, 2, 3]);
    assert.equal((await store.read({ sessionId: "ses_other" })).head, 1);
  }),
];

async function opened(store: SessionStore) {
  const { events } = await store.read({ sessionId: SESSION, limit: 1 });
  const [event] = events;
  assert.ok(event);
  return event;
}
