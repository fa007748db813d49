/** Contract of appends: atomic, ordered, and idempotent by append id. */
import assert from "node:assert/strict";
import { RookeryError, type SessionEvent } from "../../domain/index.ts";
import {
  newAppend,
  AT,
  storeCase,
  numbers,
  writeTestSession,
  sessionOpened,
  assertRejectsWith,
  outputText,
  SESSION,
  readSessionTexts,
} from "./scene.ts";

export const appendCases = [
  storeCase(
    "returns the new head of an append, and reads the events back with their sequence numbers",
    async (store) => {
      assert.deepEqual(await store.append(newAppend(0, [sessionOpened(), outputText("a")])), {
        head: 2,
        repeated: false,
      });
      assert.deepEqual(await store.append(newAppend(2, [outputText("b")])), { head: 3, repeated: false });
      const { events, head } = await store.read({ sessionId: SESSION });
      assert.equal(head, 3);
      assert.deepEqual(
        events.map(({ seq, sessionId, at }) => [seq, sessionId, at]),
        [1, 2, 3].map((seq) => [seq, SESSION, AT]),
      );
      assert.deepEqual(await readSessionTexts(store), ["session.opened", "a", "b"]);
    },
  ),

  storeCase("requires session.opened at head 0 as the first event of a session", async (store) => {
    await assertRejectsWith("session_not_found", store.append(newAppend(0, [outputText("a")])));
    await assertRejectsWith("session_not_found", store.append(newAppend(0, [])));
    await assertRejectsWith("session_not_found", store.append(newAppend(4, [sessionOpened()])));
    await assertRejectsWith("session_not_found", store.read({ sessionId: SESSION }));
    assert.equal(await store.summary(SESSION), undefined);
  }),

  storeCase("rejects an append with the wrong expected head and writes nothing", async (store) => {
    await writeTestSession(store, ["a"]);
    const before = await store.summary(SESSION);
    const key = { sessionId: SESSION, turnId: "trn_1", step: 1, kind: "tool", id: "x" } as const;
    const late = newAppend(1, [outputText("late")], { journal: [{ op: "start", key }] });
    await assertRejectsWith("append_conflict", store.append(late));
    await assertRejectsWith("append_conflict", store.append(newAppend(3, [outputText("early")])));
    await assertRejectsWith("append_conflict", store.append(newAppend(0, [sessionOpened()])));
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "a"]);
    assert.deepEqual(await store.summary(SESSION), before);
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    assert.deepEqual(await store.append({ ...late, expectedHead: 2 }), { head: 3, repeated: false });
  }),

  storeCase("appends at the current head once, with events decided from the current summary", async (store) => {
    await assertRejectsWith(
      "session_not_found",
      store.appendAtHead({ sessionId: SESSION, id: "x", decide: () => [outputText("x")] }),
    );
    await writeTestSession(store, ["a"]);
    const seen: number[] = [];
    const atHead = (id: string, text: string) =>
      store.appendAtHead({
        sessionId: SESSION,
        id,
        decide: ({ head }) => {
          seen.push(head);
          return [outputText(text)];
        },
      });
    const racing = [store.append(newAppend(2, [outputText("b")])), atHead("one", "c"), atHead("two", "d")];
    await Promise.allSettled(racing);
    assert.deepEqual((await readSessionTexts(store)).filter((text) => text === "c" || text === "d").length, 2);
    const heads = seen.length;
    assert.equal((await atHead("one", "c")).repeated, true);
    assert.equal(seen.length, heads);
    assert.equal((await readSessionTexts(store)).filter((text) => text === "c").length, 1);
  }),

  storeCase("writes nothing if an append at the head decides on no events, throws or is invalid", async (store) => {
    await writeTestSession(store, ["a"]);
    const append = (decide: Parameters<typeof store.appendAtHead>[0]["decide"]) =>
      store.appendAtHead({ sessionId: SESSION, id: "x", decide });
    assert.deepEqual(await append(() => []), { head: 2, repeated: false });
    const refuse = () => {
      throw new RookeryError("request_resolved", "too late");
    };
    await assertRejectsWith("request_resolved", append(refuse));
    await assertRejectsWith(
      "input_invalid",
      append(() => [{ ...outputText("x"), text: 5 } as unknown as SessionEvent]),
    );
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "a"]);
    assert.deepEqual(await append(({ head }) => [outputText(`after ${head}`)]), { head: 3, repeated: false });
  }),

  storeCase("rejects an event that the exported schema rejects with input_invalid", async (store) => {
    await writeTestSession(store, ["a"]);
    const stamp = { at: AT, agent: "a" };
    const invalid: readonly object[] = [
      { ...stamp, type: "nothing.known" },
      { ...stamp, type: "constructor" },
      { ...stamp, type: 5 },
      { ...stamp, type: "notice", level: "loud", code: "x", message: "x" },
      { ...stamp, type: "message.delta", messageId: "m", text: 5 },
      { ...stamp, type: "message.delta", messageId: "m" },
      { ...stamp, type: "message.delta", messageId: "m", text: "x", more: 1 },
      { ...stamp, type: "turn.started", input: [{ type: "sound" }] },
      { ...stamp, type: "usage.reported", inputTokens: Number.NaN, outputTokens: 1 },
      { ...stamp, agent: null, type: "session.closed" },
      { ...stamp, at: "yesterday", type: "session.closed" },
    ];
    for (const event of invalid) {
      await assertRejectsWith("input_invalid", store.append(newAppend(2, [outputText("b"), event as SessionEvent])));
    }
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "a"]);
    assert.deepEqual(await store.append(newAppend(2, [outputText("b")])), { head: 3, repeated: false });
  }),

  storeCase("accepts one of two appends that expect the same head", async (store) => {
    await writeTestSession(store);
    const both = await Promise.allSettled([
      store.append(newAppend(1, [outputText("a")])),
      store.append(newAppend(1, [outputText("b")])),
    ]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "a"]);
  }),

  storeCase("returns the first result for a repeated append and writes nothing", async (store) => {
    await writeTestSession(store);
    const append = newAppend(1, [outputText("a"), outputText("b")]);
    assert.deepEqual(await store.append(append), { head: 3, repeated: false });
    await store.append(newAppend(3, [outputText("c")]));
    assert.deepEqual(await store.append(append), { head: 3, repeated: true });
    assert.deepEqual(await store.append({ ...append, expectedHead: 4 }), { head: 3, repeated: true });
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "a", "b", "c"]);
  }),

  storeCase("returns the first result for a repeated append after its lease was lost", async (store) => {
    const lease = await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 10 });
    await writeTestSession(store);
    const append = newAppend(1, [outputText("a")], { fence: lease.generation });
    await store.append(append);
    await store.acquireLease({ sessionId: SESSION, owner: "b", now: 20, until: 30 });
    assert.deepEqual(await store.append(append), { head: 2, repeated: true });
  }),

  storeCase("writes two concurrent copies of an append once", async (store) => {
    await writeTestSession(store);
    const append = newAppend(1, [outputText("a")]);
    const answers = await Promise.all([store.append(append), store.append(append), store.append(append)]);
    assert.deepEqual(
      answers.map(({ head, repeated }) => [head, repeated]),
      [
        [2, false],
        [2, true],
        [2, true],
      ],
    );
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "a"]);
  }),

  storeCase("scopes append ids to their session", async (store) => {
    await writeTestSession(store);
    const append = newAppend(0, [sessionOpened()], { id: "app_shared" });
    await store.append({ ...append, sessionId: "ses_other" });
    assert.deepEqual(await store.append({ ...append, sessionId: "ses_another" }), { head: 1, repeated: false });
  }),

  storeCase("accepts consecutive appends that do not wait for each other", async (store) => {
    const first = store.append(newAppend(0, [sessionOpened()]));
    const rest = numbers(1, 500).map((head) => store.append(newAppend(head, [outputText(String(head))])));
    const answers = await Promise.all([first, ...rest]);
    assert.deepEqual(
      answers.map(({ head }) => head),
      numbers(1, 501),
    );
    assert.deepEqual(await readSessionTexts(store), ["session.opened", ...numbers(1, 500).map(String)]);
  }),

  storeCase("accepts the other appends of a group when one is rejected", async (store) => {
    await writeTestSession(store);
    await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 10 });
    const answers = await Promise.allSettled([
      store.append(newAppend(1, [outputText("a")])),
      store.append(newAppend(7, [outputText("wrong head")])),
      store.append(newAppend(2, [outputText("wrong fence")], { fence: 9 })),
      store.append(newAppend(2, [outputText("b")], { fence: 1 })),
      store.append(newAppend(5, [sessionOpened()], { sessionId: "ses_unknown" })),
      store.append(newAppend(0, [sessionOpened()], { sessionId: "ses_other" })),
      store.append(newAppend(3, [outputText("c")])),
    ]);
    assert.deepEqual(
      answers.map((answer) =>
        answer.status === "fulfilled" ? answer.value.head : (answer.reason as Error & { code: string }).code,
      ),
      [2, "append_conflict", "lease_lost", 3, "session_not_found", 1, 4],
    );
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "a", "b", "c"]);
  }),

  storeCase("keeps the head for an append without events", async (store) => {
    await writeTestSession(store);
    const append = newAppend(1, []);
    assert.deepEqual(await store.append(append), { head: 1, repeated: false });
    assert.deepEqual(await store.append(append), { head: 1, repeated: true });
    await assertRejectsWith("append_conflict", store.append(newAppend(0, [])));
  }),

  storeCase("ignores changes to the caller's objects after an append", async (store) => {
    await writeTestSession(store);
    const event = outputText("a");
    const appended = store.append(newAppend(1, [event]));
    if (event.type === "output.text") event.text = "changed";
    await appended;
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "a"]);
    const { events } = await store.read({ sessionId: SESSION });
    Object.assign(events[1] as SessionEvent, { text: "changed" });
    assert.deepEqual(await readSessionTexts(store), ["session.opened", "a"]);
  }),

  storeCase("overrides the seq and the sessionId of a draft", async (store) => {
    const strays = [sessionOpened(), outputText("a")].map((event) => ({ ...event, seq: 77, sessionId: "ses_stray" }));
    await store.append(newAppend(0, strays));
    const { events } = await store.read({ sessionId: SESSION });
    assert.deepEqual(
      events.map(({ seq, sessionId }) => [seq, sessionId]),
      [
        [1, SESSION],
        [2, SESSION],
      ],
    );
    assert.equal((await store.summary(SESSION))?.head, 2);
  }),
];
