/** The contract of tasks: a log each, by the rules of sessions, and what they are now without reading it. */
import assert from "node:assert/strict";
import { applyTask, type Store, type TaskEvent, type TaskQuery, type TaskState } from "../../domain/index.ts";
import {
  appendOf,
  AT,
  createTask,
  happens,
  inStore,
  numbers,
  openSession,
  opening,
  refuses,
  says,
  specOf,
  TASK,
  taskAppendOf,
  tell,
} from "./scene.ts";

async function ids(store: Store, query?: TaskQuery): Promise<string[]> {
  return (await store.tasks(query)).map(({ id }) => id);
}

function prints(text: string) {
  return happens({ type: "output.text", from: "setup", text });
}

export const taskCases = [
  inStore("a task is created, and read back with its place in its log", async (store) => {
    assert.deepEqual(await createTask(store), { head: 1, repeated: false });
    assert.deepEqual(await store.appendTask(taskAppendOf(1, [prints("a"), prints("b")])), { head: 3, repeated: false });
    assert.deepEqual(await store.readTask({ taskId: TASK }), {
      events: [
        { type: "task.created", spec: specOf(), at: AT, seq: 1, taskId: TASK },
        { ...prints("a"), seq: 2, taskId: TASK },
        { ...prints("b"), seq: 3, taskId: TASK },
      ],
      head: 3,
    });
    const { events, head } = await store.readTask({ taskId: TASK, after: 1, limit: 1 });
    assert.deepEqual([events.map(({ seq }) => seq), head], [[2], 3]);
  }),

  inStore("the first append to a task is its creation alone, and the only one", async (store) => {
    const created = happens({ type: "task.created", spec: specOf() });
    await refuses("task_not_found", store.appendTask(taskAppendOf(0, [prints("a")])));
    await refuses("task_not_found", store.appendTask(taskAppendOf(0, [created, prints("a")])));
    await refuses("task_not_found", store.appendTask(taskAppendOf(0, [])));
    await refuses("task_not_found", store.appendTask(taskAppendOf(2, [created])));
    await refuses("task_not_found", store.readTask({ taskId: TASK }));
    assert.equal(await store.task(TASK), undefined);
    await createTask(store);
    await refuses("append_conflict", store.appendTask(taskAppendOf(0, [created])));
    await refuses("append_conflict", store.appendTask(taskAppendOf(1, [prints("a"), created])));
    assert.equal((await store.task(TASK))?.head, 1);
  }),

  inStore("an append at the head of a task comes after whatever is there, once", async (store) => {
    const append = (id: string, text: string) =>
      store.appendTaskAtHead({ taskId: TASK, id, decide: ({ head }) => [prints(`${text} after ${head}`)] });
    await refuses("task_not_found", append("x", "a"));
    await createTask(store);
    assert.deepEqual(await append("x", "a"), { head: 2, repeated: false });
    assert.deepEqual(await append("y", "b"), { head: 3, repeated: false });
    assert.deepEqual(await append("x", "c"), { head: 2, repeated: true });
    const { events } = await store.readTask({ taskId: TASK, after: 1 });
    assert.deepEqual(
      events.map((event) => event.type === "output.text" && event.text),
      ["a after 1", "b after 2"],
    );
    assert.equal((await store.task(TASK))?.head, 3);
  }),

  inStore("of two tasks of one id that are created at once one is", async (store) => {
    const both = await Promise.allSettled([createTask(store), createTask(store)]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
  }),

  inStore(
    "an append to a task is refused at another head and under an older lease, and repeated without harm",
    async (store) => {
      await createTask(store);
      const lease = await store.acquireLease({ sessionId: TASK, owner: "a", now: 0, until: 10 });
      const append = taskAppendOf(1, [prints("a")], { fence: lease.generation });
      assert.deepEqual(await store.appendTask(append), { head: 2, repeated: false });
      await refuses("append_conflict", store.appendTask(taskAppendOf(1, [prints("late")])));
      await store.acquireLease({ sessionId: TASK, owner: "b", now: 20, until: 30 });
      await refuses("lease_lost", store.appendTask(taskAppendOf(2, [prints("lost")], { fence: lease.generation })));
      assert.deepEqual(await store.appendTask(append), { head: 2, repeated: true });
      assert.equal((await store.readTask({ taskId: TASK })).events.length, 2);
    },
  ),

  inStore("appends to tasks and sessions are made together, each to its own log", async (store) => {
    const answers = await Promise.allSettled([
      openSession(store),
      createTask(store, "a"),
      store.append(appendOf(1, [says("one")])),
      store.appendTask(taskAppendOf(1, [prints("one")], { taskId: "a" })),
      store.appendTask(taskAppendOf(7, [prints("wrong")], { taskId: "a" })),
      createTask(store, "b"),
      ...numbers(2, 50).map((head) => store.appendTask(taskAppendOf(head, [prints(String(head))], { taskId: "a" }))),
    ]);
    assert.deepEqual(
      answers.map((answer) => (answer.status === "fulfilled" ? answer.value.head : "refused")),
      [1, 1, 2, 2, "refused", 1, ...numbers(3, 51)],
    );
    assert.equal((await store.readTask({ taskId: "a" })).head, 51);
    assert.equal((await store.readTask({ taskId: "b" })).head, 1);
  }),

  inStore("a task of the same name as a session is another log", async (store) => {
    await store.append(appendOf(0, [opening(), says("session")], { sessionId: "same" }));
    await createTask(store, "same");
    assert.equal((await store.read({ sessionId: "same" })).head, 2);
    assert.equal((await store.readTask({ taskId: "same" })).head, 1);
  }),

  inStore("the state of a task is the fold of its log, whatever the drafts say of their place", async (store) => {
    await createTask(store);
    const stray = { ...happens({ type: "task.started", run: 1, owner: "me" }), seq: 77, taskId: "stray" };
    await store.appendTask(taskAppendOf(1, [stray]));
    await tell(
      store,
      TASK,
      { type: "task.stop_asked", reason: "enough" },
      { type: "output.text", from: "setup", text: "ready" },
      { type: "stage.started", stage: 0, name: "coder", attempt: 1, sessionId: "ses_1", turns: 0 },
    );
    await tell(store, TASK, { type: "task.ended", outcome: "done" });
    const { events } = await store.readTask({ taskId: TASK });
    const fold = events.reduce<TaskState | undefined>((state, event) => applyTask(state, event), undefined);
    assert.deepEqual(await store.task(TASK), JSON.parse(JSON.stringify(fold)));
    assert.deepEqual(
      events.map(({ seq, taskId }: TaskEvent) => [seq, taskId]),
      numbers(1, 6).map((seq) => [seq, TASK]),
    );
  }),

  inStore("tasks are listed newest first, by what they are, and page by page", async (store) => {
    for (const id of ["c", "a", "b"]) await createTask(store, id, { repository: `/${id}`, agent: `agent-${id}` });
    assert.deepEqual(await ids(store), ["b", "a", "c"]);
    assert.deepEqual(await ids(store, { limit: 2 }), ["b", "a"]);
    assert.deepEqual(await ids(store, { before: "a" }), ["c"]);
    assert.deepEqual(await ids(store, { before: "none" }), []);
    assert.deepEqual(await ids(store, { repository: "/a" }), ["a"]);
    assert.deepEqual(await ids(store, { agent: "agent-b" }), ["b"]);
    await tell(store, "a", { type: "task.ended", outcome: "failed" });
    await tell(store, "b", { type: "task.parked", until: AT, message: "later" });
    assert.deepEqual(await ids(store, { phases: ["failed", "parked"] }), ["b", "a"]);
    assert.deepEqual(await ids(store, { phases: [] }), []);
    assert.deepEqual(await ids(store, { phases: ["queued"], repository: "/c", agent: "agent-c", before: "b" }), ["c"]);
  }),

  inStore("tasks whose merge has not ended are found", async (store) => {
    for (const id of ["a", "b", "c"]) await createTask(store, id);
    const asked = { type: "merge.asked", how: "squash", into: "main" } as const;
    await tell(store, "a", { ...asked, mergeId: "m1" });
    await tell(store, "b", { ...asked, mergeId: "m2" });
    assert.deepEqual(await ids(store, { merging: true }), ["b", "a"]);
    await tell(store, "b", { type: "merge.ended", mergeId: "m2", outcome: "merged" });
    assert.deepEqual(await ids(store, { merging: true }), ["a"]);
    assert.deepEqual(await ids(store, { merging: false }), ["c", "b"]);
  }),

  inStore("a task that was removed is listed and counted only where that is asked for", async (store) => {
    for (const id of ["a", "b", "c"]) await createTask(store, id);
    await tell(store, "b", { type: "task.ended", outcome: "stopped" }, { type: "task.removed" });
    await tell(store, "c", { type: "task.ended", outcome: "stopped" });
    assert.deepEqual(await ids(store), ["c", "a"]);
    assert.deepEqual(await ids(store, { removed: true }), ["c", "b", "a"]);
    const none = { queued: 0, preparing: 0, running: 0, parked: 0, done: 0, failed: 0, stopped: 0 };
    assert.deepEqual(await store.countTasks(), { ...none, queued: 1, stopped: 1 });
    assert.equal((await store.task("b"))?.removed, true);
  }),

  inStore("the sessions of a task are listed by it", async (store) => {
    await createTask(store);
    const open = (sessionId: string, task?: string) =>
      store.append(appendOf(0, [opening(task === undefined ? {} : { task })], { sessionId }));
    await open("ses_1", TASK);
    await open("ses_2");
    await open("ses_3", TASK);
    await open("ses_4", "another");
    const listed = async (task: string) => (await store.list({ task })).map(({ id }) => id);
    assert.deepEqual(await listed(TASK), ["ses_3", "ses_1"]);
    assert.deepEqual(await listed("another"), []); // which is not there
    assert.deepEqual(
      (await store.list({ task: TASK, limit: 1, before: "ses_3" })).map(({ id }) => id),
      ["ses_1"],
    );
    await store.append(appendOf(1, [opening({ task: TASK })], { sessionId: "ses_2" }));
    assert.deepEqual(await listed(TASK), ["ses_3", "ses_2", "ses_1"]);
  }),
];
