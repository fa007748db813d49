/** The contract of what was begun and not finished: by a process that died, by a store that broke, by itself. */
import assert from "node:assert/strict";
import { BROKEN, dieIn, effectOf, inScene, rejectsWith, traces, type Wanted } from "./scene.ts";

const KINDS: readonly (readonly [string, Wanted])[] = [
  ["one that changes something", {}],
  ["one that may be repeated", { repeatable: true }],
  ["one that is known at once", { instant: true }],
  ["one that is known at once, and may be repeated", { instant: true, repeatable: true }],
];

export const crashCases = [
  inScene("what changes something is begun in the log before it is begun", async (scene) => {
    const host = await scene.host();
    let before: string[] = [];
    const perform = async () => {
      before = await traces(scene);
      return { value: 1 };
    };
    await host.run(effectOf(scene, "a", { perform }).effect);
    assert.deepEqual(before, ["a starts"]);
  }),

  inScene(
    "what changes something and was begun is lost: not performed, told once, and remembered as lost",
    async (scene) => {
      await dieIn(await scene.host(), effectOf(scene, "a").effect);
      const { effect, runs } = effectOf(scene, "a");
      assert.deepEqual(await (await scene.host()).run(effect), { how: "lost", value: "a lost" });
      assert.deepEqual(await (await scene.host()).run(effect), { how: "replayed", value: "a lost" });
      assert.equal(runs.count, 0);
      assert.deepEqual(await traces(scene), ["a starts", "a is lost"]);
    },
  ),

  inScene("what may be repeated is performed again, and has one start in the log", async (scene) => {
    const { effect, runs } = effectOf(scene, "a", { repeatable: true });
    const host = await scene.host();
    await dieIn(host, effect);
    await host.run(effectOf(scene, "next").effect); // whose commit is behind that of the start
    assert.deepEqual(await (await scene.host()).run(effect), { how: "performed", value: "a done" });
    assert.deepEqual(await (await scene.host()).run(effect), { how: "replayed", value: "a done" });
    assert.equal(runs.count, 1);
    const its = (await traces(scene)).filter((trace) => trace.startsWith("a "));
    assert.deepEqual(its, ["a starts", "a ends"]);
  }),

  inScene("of several that were begun at once each is lost or performed again for itself", async (scene) => {
    const host = await scene.host();
    await dieIn(host, effectOf(scene, "changes").effect);
    await dieIn(host, effectOf(scene, "reads", { repeatable: true }).effect);
    await host.run(effectOf(scene, "finished").effect);
    const later = await scene.host();
    const settled = await Promise.all([
      later.run(effectOf(scene, "changes").effect),
      later.run(effectOf(scene, "reads", { repeatable: true }).effect),
      later.run(effectOf(scene, "finished").effect),
      later.run(effectOf(scene, "new").effect),
    ]);
    assert.deepEqual(
      settled.map(({ how }) => how),
      ["lost", "performed", "replayed", "performed"],
    );
  }),

  inScene("what an effect rejects with is passed on, and is no outcome", async (scene) => {
    const error = new Error("it does not work");
    for (const [name, wanted] of KINDS) {
      const { effect } = effectOf(scene, name, { ...wanted, perform: () => Promise.reject(error) });
      await rejectsWith(error, (await scene.host()).run(effect));
      const { effect: again, runs } = effectOf(scene, name, wanted);
      const { how } = await (await scene.host()).run(again);
      const isLost = wanted.repeatable !== true && wanted.instant !== true; // it was begun, and may have done half of it
      assert.equal(how, isLost ? "lost" : "performed", name);
      assert.equal(runs.count, isLost ? 0 : 1, name);
    }
  }),

  inScene("a commit that is refused is told, whichever it is", async (scene) => {
    for (const [name, wanted] of KINDS) {
      const { effect } = effectOf(scene, name, wanted);
      await rejectsWith(BROKEN, (await scene.host({ commits: 0 })).run(effect));
    }
    assert.deepEqual(await traces(scene), []);
  }),

  inScene("what changes something is not performed where its start cannot be written", async (scene) => {
    const { effect, runs } = effectOf(scene, "a");
    await rejectsWith(BROKEN, (await scene.host({ commits: 0 })).run(effect));
    assert.equal(runs.count, 0);
  }),

  inScene("outcome and traces are written as one, after however many commits a process dies", async (scene) => {
    for (const [kind, wanted] of KINDS) {
      for (let commits = 0, died = true; died; commits += 1) {
        const name = `${kind}, ${commits}`;
        const { effect } = effectOf(scene, name, wanted);
        died = await (await scene.host({ commits })).run(effect).then(
          () => false,
          () => true,
        );
        const seen = (await traces(scene)).filter((trace) => trace.startsWith(name));
        const { effect: again, runs } = effectOf(scene, name, wanted);
        const { how } = await (await scene.host()).run(again);
        assert.equal(how === "replayed", seen.includes(`${name} ends`), name);
        if (how === "lost") assert.deepEqual(seen, [`${name} starts`]);
        if (wanted.instant === true) assert.equal(seen.length, died ? 0 : 2, name);
        assert.equal(runs.count, how === "performed" ? 1 : 0, name);
        const all = (await traces(scene)).filter((trace) => trace.startsWith(name));
        assert.deepEqual(all, [`${name} starts`, how === "lost" ? `${name} is lost` : `${name} ends`]);
        assert.ok(commits < 10, `${name}: it never ends`);
      }
    }
  }),

  inScene("a loss that cannot be written is told, and is a loss the next time too", async (scene) => {
    const { effect, runs } = effectOf(scene, "a");
    await dieIn(await scene.host(), effect);
    await rejectsWith(BROKEN, (await scene.host({ commits: 0 })).run(effect));
    assert.equal((await (await scene.host()).run(effect)).how, "lost");
    assert.equal(runs.count, 0);
  }),

  inScene("what is known at once is neither lost nor doubled where it was begun otherwise", async (scene) => {
    await dieIn(await scene.host(), effectOf(scene, "a").effect);
    assert.equal((await (await scene.host()).run(effectOf(scene, "a", { instant: true }).effect)).how, "lost");
    const host = await scene.host();
    await dieIn(host, effectOf(scene, "b", { repeatable: true }).effect);
    await host.run(effectOf(scene, "next").effect);
    const { effect } = effectOf(scene, "b", { instant: true, repeatable: true });
    assert.equal((await (await scene.host()).run(effect)).how, "performed");
    const its = (await traces(scene)).filter((trace) => trace.startsWith("b "));
    assert.deepEqual(its, ["b starts", "b ends"]);
  }),
];
