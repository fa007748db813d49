/** Contract of stores that several processes open at once: each sees at once what another commits. */
import assert from "node:assert/strict";
import type { Candidate, LogEvent, SessionEvent, Store } from "../../domain/index.ts";
import {
  appendTaskEvents,
  assertRejectsWith,
  createTask,
  newAppend,
  numbers,
  outputText,
  readSessionTexts,
  SESSION,
  sessionOpened,
  TASK,
  takeNextEvents,
  toTextOrType,
  writeTestSession,
} from "./scene.ts";

export interface SharedStoreContractCase {
  /** A test title in the present tense. */
  readonly name: string;
  /**
   * Throws if the store violates the contract. `open` must return a function that opens the same new, empty store with
   * each call; the case closes what it opens.
   */
  readonly run: (open: () => Promise<() => Promise<Store>>) => Promise<void>;
}

function sharedCase(name: string, scene: (first: Store, second: Store) => Promise<void>): SharedStoreContractCase {
  return {
    name,
    async run(open) {
      const openStore = await open();
      await using first = await openStore();
      await using second = await openStore();
      await scene(first, second);
    },
  };
}

/** Appends one text at the head, without waiting for other writers. */
async function say(store: Store, text: string): Promise<void> {
  await store.appendAtHead({ sessionId: SESSION, id: `say ${text}`, decide: () => [outputText(text)] });
}

export const sharingCases: readonly SharedStoreContractCase[] = [
  sharedCase("shows a second opener what the first appends, and the other way around", async (first, second) => {
    await writeTestSession(first, ["a"]);
    assert.deepEqual(await readSessionTexts(second), ["session.opened", "a"]);
    assert.deepEqual(await second.append(newAppend(2, [outputText("b")])), { head: 3, repeated: false });
    assert.deepEqual(await readSessionTexts(first), ["session.opened", "a", "b"]);
    assert.deepEqual(await first.summary(SESSION), await second.summary(SESSION));
  }),

  sharedCase("yields what one opener appends to the followers of the other", async (first, second) => {
    await writeTestSession(first);
    const events = second.follow({ sessionId: SESSION, after: 0 })[Symbol.asyncIterator]();
    const pages = second.followFeed({ after: 0 })[Symbol.asyncIterator]();
    const seen: string[] = [];
    const positions: number[] = [];
    for (const seq of numbers(1, 40)) {
      if (seq > 1) await first.append(newAppend(seq - 1, [outputText(String(seq))]));
      seen.push(...(await takeNextEvents(events, 1)).map(toTextOrType));
      const page = await pages.next();
      assert.equal(page.done, false);
      positions.push(...page.value.map(({ position }) => position));
    }
    assert.deepEqual(seen, ["session.opened", ...numbers(2, 40).map(String)]);
    assert.deepEqual(positions, numbers(1, 40));
    await Promise.all([events.return?.(), pages.return?.()]);
  }),

  sharedCase("notifies watches of one opener of appends and deletions by the other", async (first, second) => {
    const ids = numbers(1, 50).map((index) => `ses_${index}`);
    for (const sessionId of ids) await first.append(newAppend(0, [sessionOpened()], { sessionId }));
    const watches = ids.map((sessionId) => second.watchHead({ sessionId, after: 1 })[Symbol.asyncIterator]());
    const heads = watches.map((watch) => watch.next());
    const tasks = second.watchTasks()[Symbol.asyncIterator]();
    await tasks.next();
    const created = tasks.next();
    await createTask(first);
    await created;
    const taskHeads = second.watchTaskHead({ taskId: TASK, after: 1 })[Symbol.asyncIterator]();
    const taskHead = taskHeads.next();
    await appendTaskEvents(first, TASK, { type: "task.stop_asked" });
    assert.deepEqual(await taskHead, { done: false, value: 2 });
    for (const [index, sessionId] of ids.entries()) {
      if (index % 5 === 0) {
        await first.delete(await first.acquireLease({ sessionId, owner: "a", now: 0, until: 1 }));
        assert.deepEqual(await heads[index], { done: true, value: undefined });
      } else {
        await first.append(newAppend(1, [outputText("a")], { sessionId }));
        assert.deepEqual(await heads[index], { done: false, value: 2 });
      }
    }
    for (const watch of [...watches, tasks, taskHeads]) await watch.return?.();
  }),

  sharedCase("keeps every event of two openers that append to one session at once", async (first, second) => {
    await writeTestSession(first);
    const texts = numbers(1, 40).map(String);
    const events = first.follow({ sessionId: SESSION, after: 1 })[Symbol.asyncIterator]();
    const followed = takeNextEvents(events, texts.length);
    await Promise.all(texts.map((text, index) => say(index % 2 === 0 ? first : second, text)));
    const log = (await readSessionTexts(second)).slice(1);
    assert.deepEqual([...log].sort(), [...texts].sort());
    assert.deepEqual((await followed).map(toTextOrType), log);
    const { events: fed } = await first.readFeed({ after: 0 });
    assert.deepEqual(
      fed.map(({ position }) => position),
      numbers(1, 41),
    );
    assert.deepEqual(
      fed.map(({ text }) => toTextOrType(JSON.parse(text) as SessionEvent)),
      ["session.opened", ...log],
    );
    await events.return?.();
  }),

  sharedCase("rejects an append at a head that the other opener has moved", async (first, second) => {
    await writeTestSession(first);
    await second.append(newAppend(1, [outputText("b")]));
    await assertRejectsWith("append_conflict", first.append(newAppend(1, [outputText("late")])));
    await first.append(newAppend(2, [outputText("c")]));
    const racing = [first, second].map((store, index) => store.append(newAppend(3, [outputText(String(index))])));
    const results = await Promise.allSettled(racing);
    assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.equal((await readSessionTexts(second)).length, 4);
  }),

  sharedCase("writes an append only once if both openers send it", async (first, second) => {
    await writeTestSession(first);
    const append = newAppend(1, [outputText("a")]);
    const both = await Promise.all([first.append(append), second.append(append)]);
    assert.deepEqual(
      both.map(({ head }) => head),
      [2, 2],
    );
    assert.deepEqual(both.map(({ repeated }) => repeated).sort(), [false, true]);
    const journalOnly = newAppend(2, []);
    assert.equal((await second.append(journalOnly)).repeated, false);
    assert.equal((await first.append(journalOnly)).repeated, true);
    assert.deepEqual(await readSessionTexts(first), ["session.opened", "a"]);
  }),

  sharedCase("rejects the holder of a lease that the other opener has superseded", async (first, second) => {
    await writeTestSession(first);
    const held = await first.acquireLease({ sessionId: SESSION, owner: "a", now: 0, until: 10 });
    await first.append(newAppend(1, [outputText("a")], { fence: held.generation }));
    await assertRejectsWith("session_in_use", second.acquireLease({ ...held, owner: "b", now: 5 }));
    const next = await second.acquireLease({ ...held, owner: "b", now: 5, supersede: held.generation });
    const zombie = newAppend(2, [outputText("zombie")], { fence: held.generation });
    await assertRejectsWith("lease_lost", first.append(zombie));
    assert.deepEqual(await first.renewLeases([held], 20), [undefined]);
    await second.append(newAppend(2, [outputText("b")], { fence: next.generation }));
    assert.deepEqual(await readSessionTexts(first), ["session.opened", "a", "b"]);
  }),

  sharedCase("lets two openers that claim at once start no more tasks than `choose` allows", async (first, second) => {
    for (const number of numbers(1, 12)) await createTask(first, `t${number}`, { repository: `/${number}` });
    const claimNothing = { owner: "o0", now: 0, until: 10, choose: () => undefined };
    await Promise.all([first.claimTask(claimNothing), second.claimTask(claimNothing)]); // both are connected now
    // The openers choose different tasks, so that only the number of running tasks can stop them.
    const claims = numbers(1, 12).map((number) => {
      const [store, index] = number % 2 === 0 ? [first, 0] : [second, -1];
      const choose = (candidates: readonly Candidate[], busy: readonly unknown[]) =>
        busy.length < 3 ? candidates.at(index)?.id : undefined;
      return store.claimTask({ owner: `o${number}`, now: 0, until: 10, choose });
    });
    const ids = (await Promise.all(claims)).flatMap((claimed) => claimed?.state.id ?? []);
    assert.equal(ids.length, 3);
    assert.equal(new Set(ids).size, 3);
    assert.equal((await second.countTasks()).preparing, 3);
  }),

  sharedCase("ends the followers and writers of a session that the other opener deletes", async (first, second) => {
    await writeTestSession(first, ["a"]);
    const events = first.follow({ sessionId: SESSION, after: 2 })[Symbol.asyncIterator]();
    const ended = assertRejectsWith("session_not_found", events.next());
    await second.delete(await second.acquireLease({ sessionId: SESSION, owner: "b", now: 0, until: 10 }));
    await ended;
    await assertRejectsWith("session_not_found", first.append(newAppend(2, [outputText("late")])));
    assert.deepEqual(await first.readFeed({ after: 0 }), { events: [] as readonly LogEvent[], head: 2 });
    await writeTestSession(first);
    assert.deepEqual(await readSessionTexts(second), ["session.opened"]);
  }),
];
