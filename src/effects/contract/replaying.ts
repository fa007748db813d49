/** The contract of what has finished: it is known to whoever comes after, and is not done again. */
import assert from "node:assert/strict";
import { effectOf, inScene, prints, TURN, traces } from "./scene.ts";

export const replayCases = [
  inScene("an effect is performed once, between the trace of its start and that of its end", async (scene) => {
    const host = await scene.host();
    const { effect, runs } = effectOf(scene, "a");
    assert.deepEqual(await host.run(effect), { how: "performed", value: "a done" });
    assert.equal(runs.count, 1);
    assert.deepEqual(await traces(scene), ["a starts", "a ends"]);
  }),

  inScene("what has finished is replayed for whoever comes after, and leaves no second trace", async (scene) => {
    const host = await scene.host();
    await host.run(effectOf(scene, "a").effect);
    for (const repeatable of [false, true]) {
      const later = await scene.host();
      const { effect, runs } = effectOf(scene, "a", { repeatable });
      assert.deepEqual(await later.run(effect), { how: "replayed", value: "a done" });
      assert.equal(runs.count, 0);
    }
    assert.deepEqual(await traces(scene), ["a starts", "a ends"]);
  }),

  inScene("a value is JSON, and is read back by whoever wants it", async (scene) => {
    const value = { text: "😀\u0000\ud83d", list: [1, null, { deep: [[]] }], none: null, no: false, empty: "" };
    const perform = () => Promise.resolve({ value });
    await (await scene.host()).run(effectOf(scene, "a", { perform }).effect);
    await (
      await scene.host()
    ).run(effectOf(scene, "nothing", { perform: () => Promise.resolve({ value: null }) }).effect);
    const parse = (read: unknown): unknown => ({ read });
    const later = await scene.host();
    const { value: first } = await later.run(effectOf(scene, "a", { parse }).effect);
    assert.deepEqual(JSON.parse(JSON.stringify(first)), { read: JSON.parse(JSON.stringify(value)) as unknown });
    assert.deepEqual((await later.run(effectOf(scene, "nothing", { parse }).effect)).value, { read: null });
  }),

  inScene("a value that nobody can read is told, and nothing is performed", async (scene) => {
    await (await scene.host()).run(effectOf(scene, "a").effect);
    const parse = (): never => {
      throw new TypeError("not one of these");
    };
    const { effect, runs } = effectOf(scene, "a", { parse });
    await assert.rejects((await scene.host()).run(effect), /not one of these/);
    assert.equal(runs.count, 0);
  }),

  inScene("nothing is said to have finished that has not", async (scene) => {
    const host = await scene.host();
    const { effect } = effectOf(scene, "a", { perform: () => Promise.reject(new Error("no")) });
    assert.equal(host.isFinished(effect.key), false);
    await assert.rejects(host.run(effect), /no/);
    const later = await scene.host();
    assert.equal(later.isFinished(effect.key), false);
    await later.run(effectOf(scene, "b").effect);
    const last = await scene.host();
    assert.equal(last.isFinished(effect.key), false);
    assert.equal(last.isFinished({ ...effect.key, id: "b", step: 1 }), false);
  }),

  inScene("keys that differ in one part are those of different effects", async (scene) => {
    const keys = [
      {},
      { step: 1 },
      { step: 10 },
      { kind: "model" },
      { kind: "wait" },
      { kind: "sleep" },
      { kind: "input" },
      { id: "b" },
      { id: "a/b" },
      { id: "A" },
      { id: "" },
    ] as const;
    const host = await scene.host();
    const perform = (value: number) => () => Promise.resolve({ value, events: [prints(`ran ${value}`)] });
    for (const [value, key] of keys.entries()) {
      const settled = await host.run(effectOf(scene, "a", { key, perform: perform(value) }).effect);
      assert.deepEqual(settled, { how: "performed", value });
    }
    const later = await scene.host();
    for (const [value, key] of keys.entries()) {
      const settled = await later.run(effectOf(scene, "a", { key, perform: perform(-1) }).effect);
      assert.deepEqual(settled, { how: "replayed", value });
    }
  }),

  inScene("another turn knows nothing of it", async (scene) => {
    await (await scene.host()).run(effectOf(scene, "a").effect);
    const turnId = TURN.replace("1", "2");
    const { effect, runs } = effectOf(scene, "a", { key: { turnId } });
    assert.equal((await (await scene.host({ turnId })).run(effect)).how, "performed");
    assert.equal(runs.count, 1);
  }),

  inScene("effects run beside one another, and each has its own outcome", async (scene) => {
    const host = await scene.host();
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const slow = effectOf(scene, "slow", { perform: () => gate.then(() => ({ value: "slow done" })) });
    const first = host.run(slow.effect);
    assert.deepEqual(await host.run(effectOf(scene, "quick").effect), { how: "performed", value: "quick done" });
    release();
    assert.deepEqual(await first, { how: "performed", value: "slow done" });
    const names = Array.from({ length: 20 }, (_, index) => `of many ${index}`);
    const settled = await Promise.all(names.map((name) => host.run(effectOf(scene, name).effect)));
    assert.deepEqual(
      settled.map(({ value }) => value),
      names.map((name) => `${name} done`),
    );
    const later = await scene.host();
    const again = await Promise.all(names.map((name) => later.run(effectOf(scene, name).effect)));
    assert.ok(again.every(({ how }) => how === "replayed"));
    assert.equal(new Set(await traces(scene)).size, (await traces(scene)).length);
  }),
];
