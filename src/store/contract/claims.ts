/** Contract of claims: which tasks are candidates, and that each is claimed once. */
import assert from "node:assert/strict";
import type { Busy, Candidate, Lease, Store, TaskClaim } from "../../domain/index.ts";
import {
  AT,
  createTask,
  storeCase,
  numbers,
  assertRejectsWith,
  newTaskAppend,
  toTaskEventDraft,
  appendTaskEvents,
} from "./scene.ts";

const NOW = Date.parse("2026-01-02T03:04:05.678Z");

function newClaim(more: Partial<TaskClaim> = {}): TaskClaim {
  return { owner: "me", now: NOW, until: NOW + 1_000, choose: (candidates) => candidates[0]?.id, ...more };
}

async function offered(store: Store, more: Partial<TaskClaim> = {}): Promise<readonly Candidate[]> {
  let seen: readonly Candidate[] = [];
  await store.claimTask(
    newClaim({
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
  await appendTaskEvents(store, id, { type: "task.ended", outcome });
}

export const claimCases = [
  storeCase("starts a claimed task with a lease in one commit", async (store) => {
    await createTask(store, "a");
    const claimed = await store.claimTask(newClaim());
    assert.deepEqual(claimed?.lease, { sessionId: "a", owner: "me", generation: 1, until: NOW + 1_000 });
    assert.deepEqual(claimed.state, await store.task("a"));
    assert.deepEqual([claimed.state.phase, claimed.state.owner, claimed.state.runs], ["preparing", "me", 1]);
    assert.deepEqual((await store.readTask({ taskId: "a", after: 1 })).events, [
      { type: "task.started", at: new Date(NOW).toISOString(), run: 1, owner: "me", seq: 2, taskId: "a" },
    ]);
    assert.deepEqual(await store.currentLease("a"), claimed.lease);
    const { generation } = claimed.lease;
    await store.appendTask(
      newTaskAppend(2, [toTaskEventDraft({ type: "notice", level: "info", code: "x", message: "x" })], {
        taskId: "a",
        fence: generation,
      }),
    );
    assert.equal(await store.claimTask(newClaim()), undefined);
  }),

  storeCase("lists held and merging tasks with their leases in one call", async (store) => {
    assert.deepEqual(await store.heldTasks(), []);
    for (const id of ["a", "b", "c", "d", "e"]) await createTask(store, id, { repository: `/${id}` });
    const claim = (only: string) => store.claimTask(newClaim({ only, owner: `owner of ${only}` }));
    const [a, b] = [await claim("a"), await claim("b")];
    await store.releaseLease(b?.lease as Lease);
    const merge = { type: "merge.asked", mergeId: "m1", how: "squash", into: "main" } as const;
    await claim("c");
    await end(store, "c");
    await appendTaskEvents(store, "c", merge);
    await claim("d");
    await appendTaskEvents(store, "d", { type: "task.ended", outcome: "stopped" }, merge, { type: "task.removed" });
    const lease = { sessionId: "c", owner: "owner of c", generation: 1, until: NOW + 1_000 };
    assert.deepEqual(await store.heldTasks(), [
      { id: "a", phase: "preparing", lease: a?.lease },
      { id: "b", phase: "preparing", lease: undefined },
      { id: "c", phase: "done", lease },
    ]);
    await end(store, "a", "failed");
    await appendTaskEvents(store, "c", { type: "merge.ended", mergeId: "m1", outcome: "merged" });
    assert.deepEqual(await store.heldTasks(), [{ id: "b", phase: "preparing", lease: undefined }]);
  }),

  storeCase("claims nothing if no task waits or none is chosen", async (store) => {
    assert.equal(await store.claimTask(newClaim()), undefined);
    await createTask(store, "a");
    assert.equal(await store.claimTask(newClaim({ choose: () => undefined })), undefined);
    await assertRejectsWith("input_invalid", store.claimTask(newClaim({ choose: () => "b" })));
    assert.equal((await store.task("a"))?.head, 1);
    assert.equal(await store.currentLease("a"), undefined);
  }),

  storeCase("rethrows an error of `choose` and claims nothing", async (store) => {
    await createTask(store, "a");
    const choose = () => {
      throw new Error("cannot choose");
    };
    await assert.rejects(store.claimTask(newClaim({ choose })), /cannot choose/);
    assert.equal((await store.claimTask(newClaim()))?.state.id, "a");
  }),

  storeCase("offers the first task of each repository, agent and provider by priority and age", async (store) => {
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
      taken.push((await store.claimTask(newClaim({ choose: mine })))?.state.id ?? "none");
    }
    assert.deepEqual(taken, ["urgent", "older", "newer", "low"]);
  }),

  storeCase("reports preparing and running tasks as busy", async (store) => {
    for (const id of ["a", "b", "c", "d"]) await createTask(store, id, { repository: `/${id}` });
    for (const only of ["a", "b", "c"]) await store.claimTask(newClaim({ only }));
    await appendTaskEvents(store, "b", { type: "stage.started", stage: 0, name: "coder", attempt: 1 });
    await end(store, "c");
    let seen: readonly Busy[] = [];
    await store.claimTask(
      newClaim({
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

  storeCase("offers a task only while all tasks that it needs are done", async (store) => {
    await createTask(store, "early", { needs: ["a", "b", "b", "later"], repository: "/early" });
    await createTask(store, "a", { repository: "/a" });
    await createTask(store, "b", { repository: "/b" });
    assert.deepEqual(await offeredIds(store), ["a", "b"]);
    await end(store, "a");
    await end(store, "b", "failed");
    assert.deepEqual(await offeredIds(store), []);
    assert.deepEqual(await offeredIds(store, { only: "early" }), []);
    await appendTaskEvents(store, "b", { type: "task.queued", why: "resumed" });
    await end(store, "b");
    await createTask(store, "later", { repository: "/later" });
    assert.deepEqual(await offeredIds(store), ["later"]);
    await end(store, "later");
    assert.deepEqual(await offeredIds(store), ["early"]);
    await createTask(store, "last", { needs: ["a", "b"], repository: "/last" });
    assert.deepEqual(await offeredIds(store), ["early", "last"]);
    await appendTaskEvents(store, "a", { type: "task.queued", why: "resumed" });
    assert.deepEqual(await offeredIds(store), ["a"]);
    await appendTaskEvents(store, "a", { type: "task.ended", outcome: "done" }, { type: "task.removed" });
    assert.deepEqual(await offeredIds(store), ["early", "last"]);
  }),

  storeCase("offers a delayed task from its start time on, and does not block later tasks", async (store) => {
    const notBefore = new Date(NOW + 10).toISOString();
    await createTask(store, "a", { priority: 5 });
    await createTask(store, "b", { priority: 4 });
    await createTask(store, "c");
    await appendTaskEvents(store, "a", { type: "task.queued", why: "retried", notBefore });
    await appendTaskEvents(store, "b", { type: "task.parked", until: notBefore, message: "a limit" });
    assert.deepEqual(await offeredIds(store, { now: NOW + 9 }), ["c"]);
    assert.deepEqual(await offeredIds(store, { now: NOW + 9, only: "a" }), []);
    assert.deepEqual(await offeredIds(store, { now: NOW + 10 }), ["a"]);
    await store.claimTask(newClaim({ now: NOW + 10 }));
    assert.deepEqual(await offeredIds(store, { now: NOW + 10 }), ["b"]);
  }),

  storeCase("offers only the named task, even if others have precedence", async (store) => {
    await createTask(store, "a", { priority: 9 });
    await createTask(store, "b");
    assert.deepEqual(await offeredIds(store, { only: "b" }), ["b"]);
    assert.equal((await store.claimTask(newClaim({ only: "b" })))?.state.id, "b");
    assert.equal(await store.claimTask(newClaim({ only: "b" })), undefined);
    assert.equal(await store.claimTask(newClaim({ only: "none" })), undefined);
  }),

  storeCase("offers a task with a foreign lease only after it expires", async (store) => {
    await createTask(store, "a");
    await createTask(store, "b");
    const held = await store.acquireLease({ sessionId: "a", owner: "other", now: NOW, until: NOW + 100 });
    assert.deepEqual(await offeredIds(store), ["b"]);
    assert.deepEqual(await offeredIds(store, { only: "a" }), []);
    assert.deepEqual(await offeredIds(store, { owner: "other" }), ["a"]);
    assert.deepEqual(await offeredIds(store, { now: NOW + 100 }), ["a"]);
    await store.releaseLease(held);
    assert.equal((await store.claimTask(newClaim()))?.lease.generation, 2);
  }),

  storeCase("claims a released task again and counts its runs", async (store) => {
    await createTask(store, "a");
    const first = await store.claimTask(newClaim());
    await appendTaskEvents(store, "a", { type: "task.queued", why: "interrupted" });
    if (first !== undefined) await store.releaseLease(first.lease);
    const second = await store.claimTask(newClaim({ owner: "you" }));
    assert.deepEqual([second?.state.runs, second?.lease.generation, second?.state.owner], [2, 2, "you"]);
  }),

  storeCase("gives each of many concurrent claims a different task", async (store) => {
    for (const number of numbers(1, 10)) await createTask(store, `t${number}`);
    const claims = await Promise.all(
      numbers(1, 12).map((number) => store.claimTask(newClaim({ owner: `o${number}` }))),
    );
    const taken = claims.map((claimed) => claimed?.state.id).filter((id) => id !== undefined);
    assert.deepEqual(
      taken.sort(),
      numbers(1, 10)
        .map((number) => `t${number}`)
        .sort(),
    );
  }),

  storeCase("offers the first task of each placement, and says what it needs", async (store) => {
    const stages = ["coder", "critic"].map((agent) => ({ kind: "agent" as const, name: agent, agent, tries: 1 }));
    await createTask(store, "a", { host: "alpha" });
    await createTask(store, "b", { host: "alpha" });
    await createTask(store, "c", { host: "beta", remote: "git@example.com:x.git" });
    await createTask(store, "d", { labels: ["gpu", "big", "gpu"] });
    await createTask(store, "e", { stages });
    await createTask(store, "f");
    const candidates = (await offered(store)).toSorted((one, other) => one.order - other.order);
    assert.deepEqual(
      candidates.map(({ id, placement, limits }) => ({ id, placement, limits })),
      [
        { id: "a", placement: { host: "alpha" }, limits: {} },
        { id: "c", placement: { host: "beta", hasRemote: true }, limits: {} },
        { id: "d", placement: { labels: ["big", "gpu"] }, limits: {} },
        { id: "e", placement: { agents: ["critic"] }, limits: {} },
        { id: "f", placement: undefined, limits: {} },
      ],
    );
    assert.deepEqual(await offeredIds(store, { skip: ["a", "c", "f"] }), ["b", "d", "e"]);
    assert.deepEqual(await offeredIds(store, { only: "a", skip: ["a"] }), []);
  }),

  storeCase("chooses again if the claim does not accept the state of a task", async (store) => {
    for (const id of ["a", "b", "c"]) await createTask(store, id);
    const seen: string[] = [];
    const accepts = (state: { readonly id: string }) => {
      seen.push(state.id);
      return state.id === "c";
    };
    const claimed = await store.claimTask(newClaim({ accepts, host: "alpha" }));
    assert.deepEqual([claimed?.state.id, claimed?.state.host, seen], ["c", "alpha", ["a", "b", "c"]]);
    assert.equal(await store.claimTask(newClaim({ accepts: () => false })), undefined);
    assert.equal(await store.claimTask(newClaim({ accepts: () => false, only: "a" })), undefined);
    assert.equal((await store.countTasks()).queued, 2);
  }),

  storeCase("remembers the last host of an interrupted task until it runs again", async (store) => {
    await createTask(store, "a");
    const claimed = await store.claimTask(newClaim({ host: "alpha" }));
    await appendTaskEvents(store, "a", { type: "task.queued", why: "interrupted" });
    const queued = await store.task("a");
    assert.deepEqual([queued?.host, queued?.interruptedAt], ["alpha", AT]);
    if (claimed !== undefined) await store.releaseLease(claimed.lease);
    const again = await store.claimTask(newClaim({ host: "beta" }));
    assert.deepEqual([again?.state.host, again?.state.interruptedAt], ["beta", undefined]);
  }),
];
