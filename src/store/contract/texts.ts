/** The contract of what an event may hold: any JSON comes back as it was. */
import assert from "node:assert/strict";
import type { EventDraft } from "../../domain/index.ts";
import { appendOf, draft, inStore, openSession, refuses, says, SESSION, textsIn } from "./scene.ts";

const ODD_STRINGS = [
  "",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00 alone",
  "\u2028\u2029",
  "😀 👩‍👩‍👧 é é",
  '"\\/\b\f\n\r\t',
  "\\u0000 \\ud83d",
  "\u007f\u0080\ufeff\uffff",
  "'; drop table event; --",
  "],[",
];
const ODD_NUMBERS = [0, -0, 0.1, -1.5e-7, 5e-324, 1e21, 1.7976931348623157e308, 2 ** 53, 2 ** 64, -(2 ** 63)];

function holding(input: unknown): EventDraft {
  return draft({ type: "agent.raw", data: input });
}

function nested(depth: number): unknown {
  return JSON.parse("[".repeat(depth) + "]".repeat(depth));
}

export const textCases = [
  inStore("odd strings and numbers come back as they were, alone and in a group", async (store) => {
    const drafts = [
      ...ODD_STRINGS.map((text) => holding({ [text]: text })),
      ...ODD_NUMBERS.map((number) => holding([number])),
      holding({ a: [], b: {}, c: null, d: [true, false], e: undefined }),
    ];
    await openSession(store);
    await store.append(appendOf(1, drafts));
    for (const [index, event] of drafts.entries()) await store.append(appendOf(1 + drafts.length + index, [event]));
    const { events } = await store.read({ sessionId: SESSION, after: 1 });
    const expected = [...drafts, ...drafts].map((event, index) => ({ ...event, seq: index + 2, sessionId: SESSION }));
    assert.deepEqual(events, JSON.parse(JSON.stringify(expected)));
  }),

  inStore("an event may nest deeper than 1,000", async (store) => {
    await openSession(store);
    const drafts = [says("before"), holding(nested(3_000)), says("after")];
    await store.append(appendOf(1, drafts));
    const { events } = await store.read({ sessionId: SESSION, after: 1 });
    assert.equal(JSON.stringify(events[1]).includes("[".repeat(3_000)), true);
    assert.deepEqual((await textsIn(store)).slice(1), ["before", "agent.raw", "after"]);
  }),

  inStore("an event may hold 5 MB", async (store) => {
    const text = "0123456789é😀\u0000".repeat(400_000);
    await openSession(store);
    await store.append(appendOf(1, [says(text), says("after")]));
    assert.equal((await textsIn(store))[1] === text, true);
  }),

  inStore("more than 64 MB in one append are refused", async (store) => {
    await openSession(store);
    await refuses("input_too_large", store.append(appendOf(1, [says("x".repeat(65 * 1024 * 1024))])));
    assert.deepEqual(await store.append(appendOf(1, [says("a")])), { head: 2, repeated: false });
  }),

  inStore("what is not JSON is refused before it is written", async (store) => {
    await openSession(store);
    const ring: Record<string, unknown> = {};
    ring["ring"] = ring;
    const answers = await Promise.allSettled([
      store.append(appendOf(1, [says("a"), holding(ring)])),
      store.append(appendOf(1, [says("b"), holding(1n)])),
      store.append(appendOf(1, [says("c")])),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      ["rejected", "rejected", "fulfilled"],
    );
    await refuses("input_invalid", store.append(appendOf(2, [holding(ring)])));
    assert.deepEqual(await textsIn(store), ["session.opened", "c"]);
  }),
];
