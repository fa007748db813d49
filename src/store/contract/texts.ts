/** Contract of event content: any JSON is returned unchanged. */
import assert from "node:assert/strict";
import type { EventDraft } from "../../domain/index.ts";
import {
  newAppend,
  toEventDraft,
  largeStoreCase,
  storeCase,
  writeTestSession,
  assertRejectsWith,
  outputText,
  SESSION,
  readSessionTexts,
  sessionOpened,
} from "./scene.ts";

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
const ODD_IDS = ['"', "\\", 'a"b\\"c', "{a,b}", "NULL", " ", "a\u001eb", "\n", "'; --", "é😀"];
const ODD_NUMBERS = [0, -0, 0.1, -1.5e-7, 5e-324, 1e21, 1.7976931348623157e308, 2 ** 53, 2 ** 64, -(2 ** 63)];

function holding(input: unknown): EventDraft {
  return toEventDraft({ type: "agent.raw", data: input });
}

function nested(depth: number): unknown {
  return JSON.parse("[".repeat(depth) + "]".repeat(depth));
}

export const textCases = [
  storeCase("returns unusual strings and numbers unchanged, alone and in a group", async (store) => {
    const drafts = [
      ...ODD_STRINGS.map((text) => holding({ [text]: text })),
      ...ODD_NUMBERS.map((number) => holding([number])),
      holding({ a: [], b: {}, c: null, d: [true, false], e: undefined }),
    ];
    await writeTestSession(store);
    await store.append(newAppend(1, drafts));
    for (const [index, event] of drafts.entries()) await store.append(newAppend(1 + drafts.length + index, [event]));
    const { events } = await store.read({ sessionId: SESSION, after: 1 });
    const expected = [...drafts, ...drafts].map((event, index) => ({ ...event, seq: index + 2, sessionId: SESSION }));
    assert.deepEqual(events, JSON.parse(JSON.stringify(expected)));
  }),

  storeCase("accepts unusual strings as ids of sessions and appends, in a group under leases", async (store) => {
    const sessions = ODD_IDS.map((id) => `ses_${id}`);
    await Promise.all(sessions.map((sessionId) => store.append(newAppend(0, [sessionOpened()], { sessionId }))));
    const appendAll = () =>
      Promise.all(
        sessions.map(async (sessionId, index) => {
          const { generation: fence } = leases[index] ?? assert.fail();
          return store.append(newAppend(1, [outputText("a")], { sessionId, id: ODD_IDS[index] as string, fence }));
        }),
      );
    const times = { now: 1, until: 2 };
    const leases = await Promise.all(
      sessions.map((sessionId) => store.acquireLease({ sessionId, owner: "one", ...times })),
    );
    assert.deepEqual(
      await appendAll(),
      sessions.map(() => ({ head: 2, repeated: false })),
    );
    assert.deepEqual(
      await appendAll(),
      sessions.map(() => ({ head: 2, repeated: true })),
    );
  }),

  storeCase("accepts an event nested deeper than 1,000 levels", async (store) => {
    await writeTestSession(store);
    const drafts = [outputText("before"), holding(nested(3_000)), outputText("after")];
    await store.append(newAppend(1, drafts));
    const { events } = await store.read({ sessionId: SESSION, after: 1 });
    assert.equal(JSON.stringify(events[1]).includes("[".repeat(3_000)), true);
    assert.deepEqual((await readSessionTexts(store)).slice(1), ["before", "agent.raw", "after"]);
  }),

  largeStoreCase("accepts an event of 5 MB", async (store) => {
    const text = "0123456789é😀\u0000".repeat(400_000);
    await writeTestSession(store);
    await store.append(newAppend(1, [outputText(text), outputText("after")]));
    assert.equal((await readSessionTexts(store))[1] === text, true);
  }),

  largeStoreCase("rejects an append larger than 64 MB with input_too_large", async (store) => {
    await writeTestSession(store);
    await assertRejectsWith("input_too_large", store.append(newAppend(1, [outputText("x".repeat(65 * 1024 * 1024))])));
    assert.deepEqual(await store.append(newAppend(1, [outputText("a")])), { head: 2, repeated: false });
  }),

  storeCase("rejects values that are not JSON", async (store) => {
    await writeTestSession(store);
    const ring: Record<string, unknown> = {};
    ring["ring"] = ring;
    const answers = await Promise.allSettled([
      store.append(newAppend(1, [outputText("a"), holding(ring)])),
      store.append(newAppend(1, [outputText("b"), holding(1n)])),
      store.append(newAppend(1, [outputText("c")])),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      ["rejected", "rejected", "fulfilled"],
    );
    await assertRejectsWith("input_invalid", store.append(newAppend(2, [holding(ring)])));
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "c"]);
  }),
];
