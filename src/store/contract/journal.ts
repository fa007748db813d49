/** The contract of the journal: it is written with the events, and forgotten with the turn. */
import assert from "node:assert/strict";
import type { EffectKey } from "../../domain/index.ts";
import { appendOf, inStore, openSession, refuses, says, SESSION } from "./scene.ts";

function key(step: number, more: Partial<EffectKey> = {}): EffectKey {
  return { sessionId: SESSION, turnId: "trn_1", step, kind: "tool", id: "call", ...more };
}

export const journalCases = [
  inStore("an effect is started and finished, in the order of their starts", async (store) => {
    await openSession(store);
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    const starts = [key(2), key(1), key(1, { kind: "model" })];
    await store.append(appendOf(1, [says("a")], { journal: starts.map((started) => ({ op: "start", key: started })) }));
    const value = { text: "😀\u0000", list: [1, null] };
    await store.append(appendOf(2, [], { journal: [{ op: "finish", key: key(1), value }] }));
    assert.deepEqual(await store.journal(SESSION, "trn_1"), [
      { key: key(2), finished: false, value: undefined },
      { key: key(1), finished: true, value },
      { key: key(1, { kind: "model" }), finished: false, value: undefined },
    ]);
  }),

  inStore("starting again keeps what is known, and finishing needs no start", async (store) => {
    await openSession(store);
    const finish = { op: "finish", key: key(1), value: 1 } as const;
    await store.append(appendOf(1, [], { journal: [finish, { op: "start", key: key(1) }] }));
    assert.deepEqual(await store.journal(SESSION, "trn_1"), [{ key: key(1), finished: true, value: 1 }]);
    await store.append(appendOf(1, [], { journal: [{ ...finish, value: undefined }] }));
    assert.deepEqual(await store.journal(SESSION, "trn_1"), [{ key: key(1), finished: true, value: undefined }]);
  }),

  inStore("a turn that ended is forgotten, and only that one", async (store) => {
    await openSession(store);
    const other = key(1, { turnId: "trn_2" });
    await store.append(
      appendOf(1, [], {
        journal: [
          { op: "start", key: key(1) },
          { op: "start", key: other },
        ],
      }),
    );
    await store.append(appendOf(1, [says("over")], { journal: [{ op: "forget", turnId: "trn_1" }] }));
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    assert.deepEqual(await store.journal(SESSION, "trn_2"), [{ key: other, finished: false, value: undefined }]);
  }),

  inStore("the journal is written with the events or not at all", async (store) => {
    await openSession(store);
    const journal = [{ op: "start", key: key(1) }] as const;
    await refuses("append_conflict", store.append(appendOf(5, [says("a")], { journal })));
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    const append = appendOf(1, [says("a")], { journal });
    await store.append(append);
    await store.append(appendOf(2, [], { journal: [{ op: "forget", turnId: "trn_1" }] }));
    await store.append(append); // a repeat, which writes nothing
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
  }),
];
