/**
 * Contract cases for effects that start but do not finish: the process dies, the store fails, or the effect rejects.
 */
import assert from "node:assert/strict";
import {
  STORE_FAILURE,
  startAndAbandon,
  makeTracedEffect,
  defineEffectCase,
  assertRejectsWithError,
  readTraces,
  type TracedEffectOptions,
} from "./fixture.ts";

const EFFECT_KINDS: readonly (readonly [string, TracedEffectOptions])[] = [
  ["a non-repeatable effect", {}],
  ["a repeatable effect", { repeatable: true }],
  ["an instant effect", { instant: true }],
  ["an instant, repeatable effect", { instant: true, repeatable: true }],
];

export const crashCases = [
  defineEffectCase("commits the start of a non-repeatable effect before performing it", async (scene) => {
    const host = await scene.host();
    let before: string[] = [];
    const perform = async () => {
      before = await readTraces(scene);
      return { value: 1 };
    };
    await host.run(makeTracedEffect(scene, "a", { perform }).effect);
    assert.deepEqual(before, ["a starts"]);
  }),

  defineEffectCase("reports a started non-repeatable effect as lost once, then replays the loss", async (scene) => {
    await startAndAbandon(await scene.host(), makeTracedEffect(scene, "a").effect);
    const { effect, runs } = makeTracedEffect(scene, "a");
    assert.deepEqual(await (await scene.host()).run(effect), { how: "lost", value: "a lost" });
    assert.deepEqual(await (await scene.host()).run(effect), { how: "replayed", value: "a lost" });
    assert.equal(runs.count, 0);
    assert.deepEqual(await readTraces(scene), ["a starts", "a is lost"]);
  }),

  defineEffectCase("performs a repeatable effect again and records one start", async (scene) => {
    const { effect, runs } = makeTracedEffect(scene, "a", { repeatable: true });
    const host = await scene.host();
    await startAndAbandon(host, effect);
    await host.run(makeTracedEffect(scene, "next").effect); // commits after the start of `effect`
    assert.deepEqual(await (await scene.host()).run(effect), { how: "performed", value: "a done" });
    assert.deepEqual(await (await scene.host()).run(effect), { how: "replayed", value: "a done" });
    assert.equal(runs.count, 1);
    const its = (await readTraces(scene)).filter((trace) => trace.startsWith("a "));
    assert.deepEqual(its, ["a starts", "a ends"]);
  }),

  defineEffectCase(
    "decides for each started effect separately whether to lose, replay or perform it",
    async (scene) => {
      const host = await scene.host();
      await startAndAbandon(host, makeTracedEffect(scene, "changes").effect);
      await startAndAbandon(host, makeTracedEffect(scene, "reads", { repeatable: true }).effect);
      await host.run(makeTracedEffect(scene, "finished").effect);
      const later = await scene.host();
      const settled = await Promise.all([
        later.run(makeTracedEffect(scene, "changes").effect),
        later.run(makeTracedEffect(scene, "reads", { repeatable: true }).effect),
        later.run(makeTracedEffect(scene, "finished").effect),
        later.run(makeTracedEffect(scene, "new").effect),
      ]);
      assert.deepEqual(
        settled.map(({ how }) => how),
        ["lost", "performed", "replayed", "performed"],
      );
    },
  ),

  defineEffectCase("passes on the error of perform and journals no outcome", async (scene) => {
    const error = new Error("it does not work");
    for (const [name, wanted] of EFFECT_KINDS) {
      const { effect } = makeTracedEffect(scene, name, { ...wanted, perform: () => Promise.reject(error) });
      await assertRejectsWithError(error, (await scene.host()).run(effect));
      const { effect: again, runs } = makeTracedEffect(scene, name, wanted);
      const { how } = await (await scene.host()).run(again);
      const isLost = wanted.repeatable !== true && wanted.instant !== true; // it started, so it may have had an effect
      assert.equal(how, isLost ? "lost" : "performed", name);
      assert.equal(runs.count, isLost ? 0 : 1, name);
    }
  }),

  defineEffectCase("rejects with the store's error if a commit fails", async (scene) => {
    for (const [name, wanted] of EFFECT_KINDS) {
      const { effect } = makeTracedEffect(scene, name, wanted);
      await assertRejectsWithError(STORE_FAILURE, (await scene.host({ commits: 0 })).run(effect));
    }
    assert.deepEqual(await readTraces(scene), []);
  }),

  defineEffectCase("does not perform a non-repeatable effect if its start cannot be committed", async (scene) => {
    const { effect, runs } = makeTracedEffect(scene, "a");
    await assertRejectsWithError(STORE_FAILURE, (await scene.host({ commits: 0 })).run(effect));
    assert.equal(runs.count, 0);
  }),

  defineEffectCase("commits outcome and events atomically, wherever the process dies", async (scene) => {
    for (const [kind, wanted] of EFFECT_KINDS) {
      for (let commits = 0, died = true; died; commits += 1) {
        const name = `${kind}, ${commits}`;
        const { effect } = makeTracedEffect(scene, name, wanted);
        died = await (await scene.host({ commits })).run(effect).then(
          () => false,
          () => true,
        );
        const seen = (await readTraces(scene)).filter((trace) => trace.startsWith(name));
        const { effect: again, runs } = makeTracedEffect(scene, name, wanted);
        const { how } = await (await scene.host()).run(again);
        assert.equal(how === "replayed", seen.includes(`${name} ends`), name);
        if (how === "lost") assert.deepEqual(seen, [`${name} starts`]);
        if (wanted.instant === true) assert.equal(seen.length, died ? 0 : 2, name);
        assert.equal(runs.count, how === "performed" ? 1 : 0, name);
        const all = (await readTraces(scene)).filter((trace) => trace.startsWith(name));
        assert.deepEqual(all, [`${name} starts`, how === "lost" ? `${name} is lost` : `${name} ends`]);
        assert.ok(commits < 10, `${name}: still dying after ${commits} commits`);
      }
    }
  }),

  defineEffectCase("rejects if a loss cannot be committed, and reports the loss again later", async (scene) => {
    const { effect, runs } = makeTracedEffect(scene, "a");
    await startAndAbandon(await scene.host(), effect);
    await assertRejectsWithError(STORE_FAILURE, (await scene.host({ commits: 0 })).run(effect));
    assert.equal((await (await scene.host()).run(effect)).how, "lost");
    assert.equal(runs.count, 0);
  }),

  defineEffectCase("neither loses nor doubles an instant effect that was started as another kind", async (scene) => {
    await startAndAbandon(await scene.host(), makeTracedEffect(scene, "a").effect);
    assert.equal((await (await scene.host()).run(makeTracedEffect(scene, "a", { instant: true }).effect)).how, "lost");
    const host = await scene.host();
    await startAndAbandon(host, makeTracedEffect(scene, "b", { repeatable: true }).effect);
    await host.run(makeTracedEffect(scene, "next").effect);
    const { effect } = makeTracedEffect(scene, "b", { instant: true, repeatable: true });
    assert.equal((await (await scene.host()).run(effect)).how, "performed");
    const its = (await readTraces(scene)).filter((trace) => trace.startsWith("b "));
    assert.deepEqual(its, ["b starts", "b ends"]);
  }),
];
