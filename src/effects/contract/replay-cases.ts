/** Contract cases for finished effects: later hosts replay the outcome and do not perform the effect again. */
import assert from "node:assert/strict";
import { makeTracedEffect, defineEffectCase, traceNotice, DEFAULT_TURN_ID, readTraces } from "./fixture.ts";

export const replayCases = [
  defineEffectCase("performs an effect once, between its start and end events", async (scene) => {
    const host = await scene.host();
    const { effect, runs } = makeTracedEffect(scene, "a");
    assert.deepEqual(await host.run(effect), { how: "performed", value: "a done" });
    assert.equal(runs.count, 1);
    assert.deepEqual(await readTraces(scene), ["a starts", "a ends"]);
  }),

  defineEffectCase("replays a finished effect without recording events again", async (scene) => {
    const host = await scene.host();
    await host.run(makeTracedEffect(scene, "a").effect);
    for (const repeatable of [false, true]) {
      const later = await scene.host();
      const { effect, runs } = makeTracedEffect(scene, "a", { repeatable });
      assert.deepEqual(await later.run(effect), { how: "replayed", value: "a done" });
      assert.equal(runs.count, 0);
    }
    assert.deepEqual(await readTraces(scene), ["a starts", "a ends"]);
  }),

  defineEffectCase("stores any JSON value and parses it on replay", async (scene) => {
    const value = { text: "😀\u0000\ud83d", list: [1, null, { deep: [[]] }], none: null, no: false, empty: "" };
    const perform = () => Promise.resolve({ value });
    await (await scene.host()).run(makeTracedEffect(scene, "a", { perform }).effect);
    await (
      await scene.host()
    ).run(makeTracedEffect(scene, "nothing", { perform: () => Promise.resolve({ value: null }) }).effect);
    const parse = (read: unknown): unknown => ({ read });
    const later = await scene.host();
    const { value: first } = await later.run(makeTracedEffect(scene, "a", { parse }).effect);
    assert.deepEqual(JSON.parse(JSON.stringify(first)), { read: JSON.parse(JSON.stringify(value)) as unknown });
    assert.deepEqual((await later.run(makeTracedEffect(scene, "nothing", { parse }).effect)).value, { read: null });
  }),

  defineEffectCase("rejects if a journaled value cannot be parsed, and performs nothing", async (scene) => {
    await (await scene.host()).run(makeTracedEffect(scene, "a").effect);
    const parse = (): never => {
      throw new TypeError("not one of these");
    };
    const { effect, runs } = makeTracedEffect(scene, "a", { parse });
    await assert.rejects((await scene.host()).run(effect), /not one of these/);
    assert.equal(runs.count, 0);
  }),

  defineEffectCase("reports only finished effects as finished", async (scene) => {
    const host = await scene.host();
    const { effect } = makeTracedEffect(scene, "a", { perform: () => Promise.reject(new Error("no")) });
    assert.equal(host.isFinished(effect.key), false);
    await assert.rejects(host.run(effect), /no/);
    const later = await scene.host();
    assert.equal(later.isFinished(effect.key), false);
    await later.run(makeTracedEffect(scene, "b").effect);
    const last = await scene.host();
    assert.equal(last.isFinished(effect.key), false);
    assert.equal(last.isFinished({ ...effect.key, id: "b", step: 1 }), false);
  }),

  defineEffectCase("treats keys that differ in one part as different effects", async (scene) => {
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
    const perform = (value: number) => () => Promise.resolve({ value, events: [traceNotice(`ran ${value}`)] });
    for (const [value, key] of keys.entries()) {
      const settled = await host.run(makeTracedEffect(scene, "a", { key, perform: perform(value) }).effect);
      assert.deepEqual(settled, { how: "performed", value });
    }
    const later = await scene.host();
    for (const [value, key] of keys.entries()) {
      const settled = await later.run(makeTracedEffect(scene, "a", { key, perform: perform(-1) }).effect);
      assert.deepEqual(settled, { how: "replayed", value });
    }
  }),

  defineEffectCase("does not replay an effect in another turn", async (scene) => {
    await (await scene.host()).run(makeTracedEffect(scene, "a").effect);
    const turnId = DEFAULT_TURN_ID.replace("1", "2");
    const { effect, runs } = makeTracedEffect(scene, "a", { key: { turnId } });
    assert.equal((await (await scene.host({ turnId })).run(effect)).how, "performed");
    assert.equal(runs.count, 1);
  }),

  defineEffectCase("runs effects concurrently and keeps their outcomes apart", async (scene) => {
    const host = await scene.host();
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const slow = makeTracedEffect(scene, "slow", { perform: () => gate.then(() => ({ value: "slow done" })) });
    const first = host.run(slow.effect);
    assert.deepEqual(await host.run(makeTracedEffect(scene, "quick").effect), {
      how: "performed",
      value: "quick done",
    });
    release();
    assert.deepEqual(await first, { how: "performed", value: "slow done" });
    const names = Array.from({ length: 20 }, (_, index) => `of many ${index}`);
    const settled = await Promise.all(names.map((name) => host.run(makeTracedEffect(scene, name).effect)));
    assert.deepEqual(
      settled.map(({ value }) => value),
      names.map((name) => `${name} done`),
    );
    const later = await scene.host();
    const again = await Promise.all(names.map((name) => later.run(makeTracedEffect(scene, name).effect)));
    assert.ok(again.every(({ how }) => how === "replayed"));
    assert.equal(new Set(await readTraces(scene)).size, (await readTraces(scene)).length);
  }),
];
