/** Contract of the journal: written with the events, and deleted with the turn. */
import assert from "node:assert/strict";
import type { EffectKey } from "../../domain/index.ts";
import { newAppend, storeCase, writeTestSession, assertRejectsWith, outputText, SESSION } from "./scene.ts";

function key(step: number, more: Partial<EffectKey> = {}): EffectKey {
  return { sessionId: SESSION, turnId: "trn_1", step, kind: "tool", id: "call", ...more };
}

export const journalCases = [
  storeCase("lists effects in the order of their starts", async (store) => {
    await writeTestSession(store);
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    const starts = [key(2), key(1), key(1, { kind: "model" })];
    await store.append(
      newAppend(1, [outputText("a")], { journal: starts.map((started) => ({ op: "start", key: started })) }),
    );
    const value = { text: "😀\u0000", list: [1, null] };
    await store.append(newAppend(2, [], { journal: [{ op: "finish", key: key(1), value }] }));
    assert.deepEqual(await store.journal(SESSION, "trn_1"), [
      { key: key(2), finished: false, value: undefined },
      { key: key(1), finished: true, value },
      { key: key(1, { kind: "model" }), finished: false, value: undefined },
    ]);
  }),

  storeCase("ignores a second start, and accepts a finish without a start", async (store) => {
    await writeTestSession(store);
    const finish = { op: "finish", key: key(1), value: 1 } as const;
    await store.append(newAppend(1, [], { journal: [finish, { op: "start", key: key(1) }] }));
    assert.deepEqual(await store.journal(SESSION, "trn_1"), [{ key: key(1), finished: true, value: 1 }]);
    await store.append(newAppend(1, [], { journal: [{ ...finish, value: undefined }] }));
    assert.deepEqual(await store.journal(SESSION, "trn_1"), [{ key: key(1), finished: true, value: undefined }]);
  }),

  storeCase("deletes only the entries of the ended turn", async (store) => {
    await writeTestSession(store);
    const other = key(1, { turnId: "trn_2" });
    await store.append(
      newAppend(1, [], {
        journal: [
          { op: "start", key: key(1) },
          { op: "start", key: other },
        ],
      }),
    );
    await store.append(newAppend(1, [outputText("over")], { journal: [{ op: "forget", turnId: "trn_1" }] }));
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    assert.deepEqual(await store.journal(SESSION, "trn_2"), [{ key: other, finished: false, value: undefined }]);
  }),

  storeCase("writes the journal in the same commit as the events", async (store) => {
    await writeTestSession(store);
    const journal = [{ op: "start", key: key(1) }] as const;
    await assertRejectsWith("append_conflict", store.append(newAppend(5, [outputText("a")], { journal })));
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
    const append = newAppend(1, [outputText("a")], { journal });
    await store.append(append);
    await store.append(newAppend(2, [], { journal: [{ op: "forget", turnId: "trn_1" }] }));
    await store.append(append); // a repeated append writes nothing
    assert.deepEqual(await store.journal(SESSION, "trn_1"), []);
  }),
];
