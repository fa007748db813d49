/** The contract of claims: what is offered, and that what is taken is taken once. */
import assert from "node:assert/strict";
import type { Busy, Candidate, Store, TaskClaim } from "../../domain/index.ts";
import { createTask, inStore, numbers, refuses, taskAppendOf, happens, tell } from "./scene.ts";

const NOW = Date.parse("2026-01-02T03:04:05.678Z");

function claimOf(more: Partial<TaskClaim> = {}): TaskClaim {
  return { owner: "me", now: NOW, until: NOW + 1_000, choose: (candidates) => candidates[0]?.id, ...more };
}

async function offered(store: Store, more: Partial<TaskClaim> = {}): Promise<readonly Candidate[]> {
  let seen: readonly Candidate[] = [];
  await store.claimTask(
    claimOf({
      ...more,
      choose: (candidates) => {
        seen = candidates;
        return undefined;
      },
    }),
  );
  return seen;
}

async function offeredIds(store: Store, more: Partial<TaskClaim> = {}): Promise<string[]> {
  return (await offered(store, more)).map(({ id }) => id).sort();
}

async function end(store: Store, id: string, outcome: "done" | "failed" = "done"): Promise<void> {
  await tell(store, id, { type: "task.ended", outcome });
}

export const claimCases = [
  inStore("what is claimed is started under a lease of the claimer, in one commit", async (store) => {
    await createTask(store, "a");
    const claimed = await store.claimTask(claimOf());
    assert.deepEqual(claimed?.lease, { sessionId: "a", owner: "me", generation: 1, until: NOW + 1_000 });
    assert.deepEqual(claimed.state, await store.task("a"));
    assert.deepEqual([claimed.state.phase, claimed.state.owner, claimed.state.runs], ["preparing", "me", 1]);
    assert.deepEqual((await store.readTask({ taskId: "a", after: 1 })).events, [
      { type: "task.started", at: new Date(NOW).toISOString(), run: 1, owner: "me", seq: 2, taskId: "a" },
    ]);
    assert.deepEqual(await store.currentLease("a"), claimed.lease);
    const { generation } = claimed.lease;
    await store.appendTask(
      taskAppendOf(2, [happens({ type: "notice", level: "info", code: "x", message: "x" })], {
        taskId: "a",
        fence: generation,
      }),
    );
    assert.equal(await store.claimTask(claimOf()), undefined);
  }),

  inStore("where nothing waits or nothing is chosen nothing is taken", async (store) => {
    assert.equal(await store.claimTask(claimOf()), undefined);
    await createTask(store, "a");
    assert.equal(await store.claimTask(claimOf({ choose: () => undefined })), undefined);
    await refuses("input_invalid", store.claimTask(claimOf({ choose: () => "b" })));
    assert.equal((await store.task("a"))?.head, 1);
    assert.equal(await store.currentLease("a"), undefined);
  }),

  inStore("what `choose` throws is thrown, and nothing is taken", async (store) => {
    await createTask(store, "a");
    const choose = () => {
      throw new Error("cannot choose");
    };
    await assert.rejects(store.claimTask(claimOf({ choose })), /cannot choose/);
    assert.equal((await store.claimTask(claimOf()))?.state.id, "a");
  }),

  inStore(
    "of all that share repository, agent and provider the first is offered, by priority and age",
    async (store) => {
      await createTask(store, "low", { priority: -1 });
      await createTask(store, "older");
      await createTask(store, "newer");
      await createTask(store, "elsewhere", { repository: "/other", limits: { repository: 2, agent: 1 } });
      await createTask(store, "reviewer", { agent: "reviewer" });
      await createTask(store, "account", { provider: "openai" });
      assert.deepEqual(await offeredIds(store), ["account", "elsewhere", "older", "reviewer"]);
      const elsewhere = (await offered(store)).find(({ id }) => id === "elsewhere");
      const { repository, agent, provider, priority, limits } = elsewhere ?? {};
      assert.deepEqual(
        { repository, agent, provider, priority, limits },
        {
          repository: "/other",
          agent: "coder",
          provider: "anthropic",
          priority: 0,
          limits: { repository: 2, agent: 1 },
        },
      );
      const order = [...(await offered(store))].sort((a, b) => a.order - b.order).map(({ id }) => id);
      assert.deepEqual(order, ["older", "elsewhere", "reviewer", "account"]);

      await createTask(store, "urgent", { priority: 1 });
      const taken: string[] = [];
      const choose = (candidates: readonly Candidate[]) => candidates.find(({ agent }) => agent === "coder")?.id;
      const first = ({ repository, provider }: Busy) => repository === "/repo" && provider === "anthropic";
      for (const _ of numbers(1, 4)) {
        const mine = (candidates: readonly Candidate[]) => choose(candidates.filter(first));
        taken.push((await store.claimTask(claimOf({ choose: mine })))?.state.id ?? "none");
      }
      assert.deepEqual(taken, ["urgent", "older", "newer", "low"]);
    },
  ),

  inStore("what is prepared or runs is said to be busy", async (store) => {
    for (const id of ["a", "b", "c", "d"]) await createTask(store, id, { repository: `/${id}` });
    for (const only of ["a", "b", "c"]) await store.claimTask(claimOf({ only }));
    await tell(store, "b", { type: "stage.started", stage: 0, name: "coder", attempt: 1 });
    await end(store, "c");
    let seen: readonly Busy[] = [];
    await store.claimTask(
      claimOf({
        choose: (_, busy) => {
          seen = busy;
          return undefined;
        },
      }),
    );
    assert.deepEqual(
      [...seen].sort((a, b) => (a.id < b.id ? -1 : 1)),
      ["a", "b"].map((id) => ({ id, repository: `/${id}`, agent: "coder", provider: "anthropic" })),
    );
  }),

  inStore(
    "a task that needs others is offered once all of them are done, and no more when one is not",
    async (store) => {
      await createTask(store, "early", { needs: ["a", "b", "b", "later"], repository: "/early" });
      await createTask(store, "a", { repository: "/a" });
      await createTask(store, "b", { repository: "/b" });
      assert.deepEqual(await offeredIds(store), ["a", "b"]);
      await end(store, "a");
      await end(store, "b", "failed");
      assert.deepEqual(await offeredIds(store), []);
      assert.deepEqual(await offeredIds(store, { only: "early" }), []);
      await tell(store, "b", { type: "task.queued", why: "resumed" });
      await end(store, "b");
      await createTask(store, "later", { repository: "/later" });
      assert.deepEqual(await offeredIds(store), ["later"]);
      await end(store, "later");
      assert.deepEqual(await offeredIds(store), ["early"]);
      await createTask(store, "last", { needs: ["a", "b"], repository: "/last" });
      assert.deepEqual(await offeredIds(store), ["early", "last"]);
      await tell(store, "a", { type: "task.queued", why: "resumed" });
      assert.deepEqual(await offeredIds(store), ["a"]);
      await tell(store, "a", { type: "task.ended", outcome: "done" }, { type: "task.removed" });
      assert.deepEqual(await offeredIds(store), ["early", "last"]);
    },
  ),

  inStore("what waits for a time is offered from then on, and holds up nobody behind it", async (store) => {
    const notBefore = new Date(NOW + 10).toISOString();
    await createTask(store, "a", { priority: 5 });
    await createTask(store, "b", { priority: 4 });
    await createTask(store, "c");
    await tell(store, "a", { type: "task.queued", why: "retried", notBefore });
    await tell(store, "b", { type: "task.parked", until: notBefore, message: "a limit" });
    assert.deepEqual(await offeredIds(store, { now: NOW + 9 }), ["c"]);
    assert.deepEqual(await offeredIds(store, { now: NOW + 9, only: "a" }), []);
    assert.deepEqual(await offeredIds(store, { now: NOW + 10 }), ["a"]);
    await store.claimTask(claimOf({ now: NOW + 10 }));
    assert.deepEqual(await offeredIds(store, { now: NOW + 10 }), ["b"]);
  }),

  inStore("only one is offered where it is named, although others come before it", async (store) => {
    await createTask(store, "a", { priority: 9 });
    await createTask(store, "b");
    assert.deepEqual(await offeredIds(store, { only: "b" }), ["b"]);
    assert.equal((await store.claimTask(claimOf({ only: "b" })))?.state.id, "b");
    assert.equal(await store.claimTask(claimOf({ only: "b" })), undefined);
    assert.equal(await store.claimTask(claimOf({ only: "none" })), undefined);
  }),

  inStore("what another holds is not offered until its lease ends; what the claimer holds is", async (store) => {
    await createTask(store, "a");
    await createTask(store, "b");
    const held = await store.acquireLease({ sessionId: "a", owner: "other", now: NOW, until: NOW + 100 });
    assert.deepEqual(await offeredIds(store), ["b"]);
    assert.deepEqual(await offeredIds(store, { only: "a" }), []);
    assert.deepEqual(await offeredIds(store, { owner: "other" }), ["a"]);
    assert.deepEqual(await offeredIds(store, { now: NOW + 100 }), ["a"]);
    await store.releaseLease(held);
    assert.equal((await store.claimTask(claimOf()))?.lease.generation, 2);
  }),

  inStore("a task that was given back can be claimed again, and counts its runs", async (store) => {
    await createTask(store, "a");
    const first = await store.claimTask(claimOf());
    await tell(store, "a", { type: "task.queued", why: "interrupted" });
    if (first !== undefined) await store.releaseLease(first.lease);
    const second = await store.claimTask(claimOf({ owner: "you" }));
    assert.deepEqual([second?.state.runs, second?.lease.generation, second?.state.owner], [2, 2, "you"]);
  }),

  inStore("of many claims at once each takes another task", async (store) => {
    for (const number of numbers(1, 10)) await createTask(store, `t${number}`);
    const claims = await Promise.all(numbers(1, 12).map((number) => store.claimTask(claimOf({ owner: `o${number}` }))));
    const taken = claims.map((claimed) => claimed?.state.id).filter((id) => id !== undefined);
    assert.deepEqual(
      taken.sort(),
      numbers(1, 10)
        .map((number) => `t${number}`)
        .sort(),
    );
  }),
];
