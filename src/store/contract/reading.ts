/** The contract of reading: pages in both directions, between bounds, never too large. */
import assert from "node:assert/strict";
import type { ReadQuery, SessionStore } from "../../domain/index.ts";
import { appendOf, inStore, numbers, openSession, says, SESSION } from "./scene.ts";

async function seqs(store: SessionStore, query: Omit<ReadQuery, "sessionId">): Promise<number[]> {
  const { events, head } = await store.read({ sessionId: SESSION, ...query });
  assert.equal(head, (await store.summary(SESSION))?.head);
  return events.map(({ seq }) => seq);
}

async function filled(store: SessionStore, head: number): Promise<void> {
  await openSession(store, numbers(2, head).map(String));
}

export const readCases = [
  inStore("a page starts after its cursor and holds as many as asked", async (store) => {
    await filled(store, 10);
    assert.deepEqual(await seqs(store, {}), numbers(1, 10));
    assert.deepEqual(await seqs(store, { after: 0, limit: 3 }), [1, 2, 3]);
    assert.deepEqual(await seqs(store, { after: 3, limit: 3 }), [4, 5, 6]);
    assert.deepEqual(await seqs(store, { after: 9, limit: 3 }), [10]);
    assert.deepEqual(await seqs(store, { after: 10 }), []);
    assert.deepEqual(await seqs(store, { after: 99 }), []);
    assert.deepEqual(await seqs(store, { limit: 0 }), []);
  }),

  inStore("a page may go backwards from the end or from a bound", async (store) => {
    await filled(store, 10);
    assert.deepEqual(await seqs(store, { order: "newest_first", limit: 3 }), [10, 9, 8]);
    assert.deepEqual(await seqs(store, { order: "newest_first", before: 8, limit: 3 }), [7, 6, 5]);
    assert.deepEqual(await seqs(store, { order: "newest_first", before: 3 }), [2, 1]);
    assert.deepEqual(await seqs(store, { order: "newest_first", before: 1 }), []);
    assert.deepEqual(await seqs(store, { order: "newest_first", before: 99, limit: 1 }), [10]);
  }),

  inStore("both bounds are exclusive, in both directions", async (store) => {
    await filled(store, 10);
    assert.deepEqual(await seqs(store, { after: 3, before: 7 }), [4, 5, 6]);
    assert.deepEqual(await seqs(store, { after: 3, before: 7, limit: 2 }), [4, 5]);
    assert.deepEqual(await seqs(store, { after: 3, before: 7, order: "newest_first" }), [6, 5, 4]);
    assert.deepEqual(await seqs(store, { after: 3, before: 7, order: "newest_first", limit: 2 }), [6, 5]);
    assert.deepEqual(await seqs(store, { after: 7, before: 3 }), []);
    assert.deepEqual(await seqs(store, { after: 3, before: 4 }), []);
  }),

  inStore("a page holds 1,000 events if nothing is said, and never more than 10,000", async (store) => {
    await filled(store, 10_500);
    assert.deepEqual(await seqs(store, {}), numbers(1, 1_000));
    assert.deepEqual(await seqs(store, { limit: 50_000 }), numbers(1, 10_000));
    assert.deepEqual(await seqs(store, { limit: 50_000, order: "newest_first" }), numbers(501, 10_500).reverse());
  }),

  inStore("a page of huge events ends early, is never empty, and reading on misses none", async (store) => {
    await openSession(store);
    for (const head of numbers(1, 12)) await store.append(appendOf(head, [says("x".repeat(3_000_000))]));
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

  inStore("one session's log is not another's", async (store) => {
    await filled(store, 3);
    await store.append({ ...appendOf(0, [{ ...(await opened(store)) }]), sessionId: "ses_other" });
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
