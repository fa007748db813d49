/** The contract of appending: all or nothing, in order, once. */
import assert from "node:assert/strict";
import { RookeryError, type SessionEvent } from "../../domain/index.ts";
import { appendOf, AT, inStore, numbers, openSession, opening, refuses, says, SESSION, textsIn } from "./scene.ts";

export const appendCases = [
  inStore("an append is answered with the new head, and read back with its place in the log", async (store) => {
    assert.deepEqual(await store.append(appendOf(0, [opening(), says("a")])), { head: 2, repeated: false });
    assert.deepEqual(await store.append(appendOf(2, [says("b")])), { head: 3, repeated: false });
    const { events, head } = await store.read({ sessionId: SESSION });
    assert.equal(head, 3);
    assert.deepEqual(
      events.map(({ seq, sessionId, at }) => [seq, sessionId, at]),
      [1, 2, 3].map((seq) => [seq, SESSION, AT]),
    );
    assert.deepEqual(await textsIn(store), ["session.opened", "a", "b"]);
  }),

  inStore("a session starts with session.opened at head 0 and is unknown before", async (store) => {
    await refuses("session_not_found", store.append(appendOf(0, [says("a")])));
    await refuses("session_not_found", store.append(appendOf(0, [])));
    await refuses("session_not_found", store.append(appendOf(4, [opening()])));
    await refuses("session_not_found", store.read({ sessionId: SESSION }));
    assert.equal(await store.summary(SESSION), undefined);
  }),

  inStore("an append that expects another head is refused and leaves no trace", async (store) => {
    await openSession(store, ["a"]);
    const before = await store.summary(SESSION);
    const key = { sessionId: SESSION, turnId: "trn_1", step: 1, kind: "tool", id: "x" } as const;
    const late = appendOf(1, [says("late")], { journal: [{ op: "start", key }] });
    await refuses("append_conflict", store.append(late));
    await refuses("append_conflict", store.append(appendOf(3, [says("early")])));
    await refuses("append_conflict", store.append(appendOf(0, [opening()])));
    assert.deepEqual(await textsIn(store), ["session.opened", "a"]);
    assert.deepEqual(await store.summary(SESSION), before);
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    assert.deepEqual(await store.append({ ...late, expectedHead: 2 }), { head: 3, repeated: false });
  }),

  inStore(
    "an append at the head comes after whatever is there, judged by the summary of that moment, once",
    async (store) => {
      await refuses(
        "session_not_found",
        store.appendAtHead({ sessionId: SESSION, id: "x", decide: () => [says("x")] }),
      );
      await openSession(store, ["a"]);
      const seen: number[] = [];
      const atHead = (id: string, text: string) =>
        store.appendAtHead({
          sessionId: SESSION,
          id,
          decide: ({ head }) => {
            seen.push(head);
            return [says(text)];
          },
        });
      const racing = [store.append(appendOf(2, [says("b")])), atHead("one", "c"), atHead("two", "d")];
      await Promise.allSettled(racing);
      assert.deepEqual((await textsIn(store)).filter((text) => text === "c" || text === "d").length, 2);
      const heads = seen.length;
      assert.equal((await atHead("one", "c")).repeated, true);
      assert.equal(seen.length, heads);
      assert.equal((await textsIn(store)).filter((text) => text === "c").length, 1);
    },
  ),

  inStore("an append at the head that decides on nothing, throws or is invalid leaves no trace", async (store) => {
    await openSession(store, ["a"]);
    const append = (decide: Parameters<typeof store.appendAtHead>[0]["decide"]) =>
      store.appendAtHead({ sessionId: SESSION, id: "x", decide });
    assert.deepEqual(await append(() => []), { head: 2, repeated: false });
    const refuse = () => {
      throw new RookeryError("request_resolved", "too late");
    };
    await refuses("request_resolved", append(refuse));
    await refuses(
      "input_invalid",
      append(() => [{ ...says("x"), text: 5 } as unknown as SessionEvent]),
    );
    assert.deepEqual(await textsIn(store), ["session.opened", "a"]);
    assert.deepEqual(await append(({ head }) => [says(`after ${head}`)]), { head: 3, repeated: false });
  }),

  inStore("refuses an event that the exported schema rejects with input_invalid", async (store) => {
    await openSession(store, ["a"]);
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
      await refuses("input_invalid", store.append(appendOf(2, [says("b"), event as SessionEvent])));
    }
    assert.deepEqual(await textsIn(store), ["session.opened", "a"]);
    assert.deepEqual(await store.append(appendOf(2, [says("b")])), { head: 3, repeated: false });
  }),

  inStore("of two appends that expect the same head one wins", async (store) => {
    await openSession(store);
    const both = await Promise.allSettled([
      store.append(appendOf(1, [says("a")])),
      store.append(appendOf(1, [says("b")])),
    ]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
    assert.deepEqual(await textsIn(store), ["session.opened", "a"]);
  }),

  inStore("the same append again changes nothing and is answered as the first time", async (store) => {
    await openSession(store);
    const append = appendOf(1, [says("a"), says("b")]);
    assert.deepEqual(await store.append(append), { head: 3, repeated: false });
    await store.append(appendOf(3, [says("c")]));
    assert.deepEqual(await store.append(append), { head: 3, repeated: true });
    assert.deepEqual(await store.append({ ...append, expectedHead: 4 }), { head: 3, repeated: true });
    assert.deepEqual(await textsIn(store), ["session.opened", "a", "b", "c"]);
  }),

  inStore("an append that is repeated after its lease was lost is still answered as the first time", async (store) => {
    const lease = await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 10 });
    await openSession(store);
    const append = appendOf(1, [says("a")], { fence: lease.generation });
    await store.append(append);
    await store.acquireLease({ sessionId: SESSION, owner: "b", now: 20, until: 30 });
    assert.deepEqual(await store.append(append), { head: 2, repeated: true });
  }),

  inStore("the same append twice at once is written once", async (store) => {
    await openSession(store);
    const append = appendOf(1, [says("a")]);
    const answers = await Promise.all([store.append(append), store.append(append), store.append(append)]);
    assert.deepEqual(
      answers.map(({ head, repeated }) => [head, repeated]),
      [
        [2, false],
        [2, true],
        [2, true],
      ],
    );
    assert.deepEqual(await textsIn(store), ["session.opened", "a"]);
  }),

  inStore("an append id belongs to its session", async (store) => {
    await openSession(store);
    const append = appendOf(0, [opening()], { id: "app_shared" });
    await store.append({ ...append, sessionId: "ses_other" });
    assert.deepEqual(await store.append({ ...append, sessionId: "ses_another" }), { head: 1, repeated: false });
  }),

  inStore("appends that each expect the one before need not wait for it", async (store) => {
    const first = store.append(appendOf(0, [opening()]));
    const rest = numbers(1, 500).map((head) => store.append(appendOf(head, [says(String(head))])));
    const answers = await Promise.all([first, ...rest]);
    assert.deepEqual(
      answers.map(({ head }) => head),
      numbers(1, 501),
    );
    assert.deepEqual(await textsIn(store), ["session.opened", ...numbers(1, 500).map(String)]);
  }),

  inStore("a refused append does not hurt those made at the same moment", async (store) => {
    await openSession(store);
    await store.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 10 });
    const answers = await Promise.allSettled([
      store.append(appendOf(1, [says("a")])),
      store.append(appendOf(7, [says("wrong head")])),
      store.append(appendOf(2, [says("wrong fence")], { fence: 9 })),
      store.append(appendOf(2, [says("b")], { fence: 1 })),
      store.append(appendOf(5, [opening()], { sessionId: "ses_unknown" })),
      store.append(appendOf(0, [opening()], { sessionId: "ses_other" })),
      store.append(appendOf(3, [says("c")])),
    ]);
    assert.deepEqual(
      answers.map((answer) =>
        answer.status === "fulfilled" ? answer.value.head : (answer.reason as Error & { code: string }).code,
      ),
      [2, "append_conflict", "lease_lost", 3, "session_not_found", 1, 4],
    );
    assert.deepEqual(await textsIn(store), ["session.opened", "a", "b", "c"]);
  }),

  inStore("an append without events moves nothing, once", async (store) => {
    await openSession(store);
    const append = appendOf(1, []);
    assert.deepEqual(await store.append(append), { head: 1, repeated: false });
    assert.deepEqual(await store.append(append), { head: 1, repeated: true });
    await refuses("append_conflict", store.append(appendOf(0, [])));
  }),

  inStore("what a caller changes after appending changes nothing", async (store) => {
    await openSession(store);
    const event = says("a");
    const appended = store.append(appendOf(1, [event]));
    if (event.type === "output.text") event.text = "changed";
    await appended;
    assert.deepEqual(await textsIn(store), ["session.opened", "a"]);
    const { events } = await store.read({ sessionId: SESSION });
    Object.assign(events[1] as SessionEvent, { text: "changed" });
    assert.deepEqual(await textsIn(store), ["session.opened", "a"]);
  }),

  inStore("only the store gives an event its place, whatever the draft says", async (store) => {
    const strays = [opening(), says("a")].map((event) => ({ ...event, seq: 77, sessionId: "ses_stray" }));
    await store.append(appendOf(0, strays));
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
