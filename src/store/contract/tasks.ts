/** Contract of tasks: each has a log with the same rules as sessions, and a state without reading the log. */
import assert from "node:assert/strict";
import { applyTask, type Store, type TaskEvent, type TaskQuery, type TaskState } from "../../domain/index.ts";
import {
  newAppend,
  AT,
  createTask,
  toTaskEventDraft,
  storeCase,
  numbers,
  writeTestSession,
  sessionOpened,
  assertRejectsWith,
  outputText,
  newTaskSpec,
  TASK,
  newTaskAppend,
  appendTaskEvents,
} from "./scene.ts";

async function ids(store: Store, query?: TaskQuery): Promise<string[]> {
  return (await store.tasks(query)).map(({ id }) => id);
}

function prints(text: string) {
  return toTaskEventDraft({ type: "output.text", from: "setup", text });
}

export const taskCases = [
  storeCase("creates a task and reads its events back with sequence numbers", async (store) => {
    assert.deepEqual(await createTask(store), { head: 1, repeated: false });
    assert.deepEqual(await store.appendTask(newTaskAppend(1, [prints("a"), prints("b")])), {
      head: 3,
      repeated: false,
    });
    assert.deepEqual(await store.readTask({ taskId: TASK }), {
      events: [
        { type: "task.created", spec: newTaskSpec(), at: AT, seq: 1, taskId: TASK },
        { ...prints("a"), seq: 2, taskId: TASK },
        { ...prints("b"), seq: 3, taskId: TASK },
      ],
      head: 3,
    });
    const { events, head } = await store.readTask({ taskId: TASK, after: 1, limit: 1 });
    assert.deepEqual([events.map(({ seq }) => seq), head], [[2], 3]);
  }),

  storeCase("requires task.created alone as the first append, and only there", async (store) => {
    const created = toTaskEventDraft({ type: "task.created", spec: newTaskSpec() });
    await assertRejectsWith("task_not_found", store.appendTask(newTaskAppend(0, [prints("a")])));
    await assertRejectsWith("task_not_found", store.appendTask(newTaskAppend(0, [created, prints("a")])));
    await assertRejectsWith("task_not_found", store.appendTask(newTaskAppend(0, [])));
    await assertRejectsWith("task_not_found", store.appendTask(newTaskAppend(2, [created])));
    await assertRejectsWith("task_not_found", store.readTask({ taskId: TASK }));
    assert.equal(await store.task(TASK), undefined);
    await createTask(store);
    await assertRejectsWith("append_conflict", store.appendTask(newTaskAppend(0, [created])));
    await assertRejectsWith("append_conflict", store.appendTask(newTaskAppend(1, [prints("a"), created])));
    assert.equal((await store.task(TASK))?.head, 1);
  }),

  storeCase("appends at the current head of a task once", async (store) => {
    const append = (id: string, text: string) =>
      store.appendTaskAtHead({ taskId: TASK, id, decide: ({ head }) => [prints(`${text} after ${head}`)] });
    await assertRejectsWith("task_not_found", append("x", "a"));
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

  storeCase("creates one of two concurrent tasks with the same id", async (store) => {
    const both = await Promise.allSettled([createTask(store), createTask(store)]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
  }),

  storeCase("rejects a task append with a wrong head or an old lease, and accepts a repeated one", async (store) => {
    await createTask(store);
    const lease = await store.acquireLease({ sessionId: TASK, owner: "a", now: 0, until: 10 });
    const append = newTaskAppend(1, [prints("a")], { fence: lease.generation });
    assert.deepEqual(await store.appendTask(append), { head: 2, repeated: false });
    await assertRejectsWith("append_conflict", store.appendTask(newTaskAppend(1, [prints("late")])));
    await store.acquireLease({ sessionId: TASK, owner: "b", now: 20, until: 30 });
    await assertRejectsWith(
      "lease_lost",
      store.appendTask(newTaskAppend(2, [prints("lost")], { fence: lease.generation })),
    );
    assert.deepEqual(await store.appendTask(append), { head: 2, repeated: true });
    assert.equal((await store.readTask({ taskId: TASK })).events.length, 2);
  }),

  storeCase("appends to tasks and sessions concurrently, each to its own log", async (store) => {
    const answers = await Promise.allSettled([
      writeTestSession(store),
      createTask(store, "a"),
      store.append(newAppend(1, [outputText("one")])),
      store.appendTask(newTaskAppend(1, [prints("one")], { taskId: "a" })),
      store.appendTask(newTaskAppend(7, [prints("wrong")], { taskId: "a" })),
      createTask(store, "b"),
      ...numbers(2, 50).map((head) => store.appendTask(newTaskAppend(head, [prints(String(head))], { taskId: "a" }))),
    ]);
    assert.deepEqual(
      answers.map((answer) => (answer.status === "fulfilled" ? answer.value.head : "refused")),
      [1, 1, 2, 2, "refused", 1, ...numbers(3, 51)],
    );
    assert.equal((await store.readTask({ taskId: "a" })).head, 51);
    assert.equal((await store.readTask({ taskId: "b" })).head, 1);
  }),

  storeCase("keeps a task and a session with the same id separate", async (store) => {
    await store.append(newAppend(0, [sessionOpened(), outputText("session")], { sessionId: "same" }));
    await createTask(store, "same");
    assert.equal((await store.read({ sessionId: "same" })).head, 2);
    assert.equal((await store.readTask({ taskId: "same" })).head, 1);
  }),

  storeCase("derives the task state from its log and ignores the seq of drafts", async (store) => {
    await createTask(store);
    const stray = { ...toTaskEventDraft({ type: "task.started", run: 1, owner: "me" }), seq: 77, taskId: "stray" };
    await store.appendTask(newTaskAppend(1, [stray]));
    await appendTaskEvents(
      store,
      TASK,
      { type: "task.stop_asked", reason: "enough" },
      { type: "output.text", from: "setup", text: "ready" },
      { type: "stage.started", stage: 0, name: "coder", attempt: 1, sessionId: "ses_1", turns: 0 },
    );
    await appendTaskEvents(store, TASK, { type: "task.ended", outcome: "done" });
    const { events } = await store.readTask({ taskId: TASK });
    const fold = events.reduce<TaskState | undefined>((state, event) => applyTask(state, event), undefined);
    assert.deepEqual(await store.task(TASK), JSON.parse(JSON.stringify(fold)));
    assert.deepEqual(
      events.map(({ seq, taskId }: TaskEvent) => [seq, taskId]),
      numbers(1, 6).map((seq) => [seq, TASK]),
    );
  }),

  storeCase("lists tasks newest first, with filters and in pages", async (store) => {
    for (const id of ["c", "a", "b"]) await createTask(store, id, { repository: `/${id}`, agent: `agent-${id}` });
    assert.deepEqual(await ids(store), ["b", "a", "c"]);
    assert.deepEqual(await ids(store, { limit: 2 }), ["b", "a"]);
    assert.deepEqual(await ids(store, { before: "a" }), ["c"]);
    assert.deepEqual(await ids(store, { order: "oldest_first", limit: 2 }), ["c", "a"]);
    assert.deepEqual(await ids(store, { order: "newest_first" }), ["b", "a", "c"]);
    assert.deepEqual(await ids(store, { before: "none" }), []);
    assert.deepEqual(await ids(store, { repository: "/a" }), ["a"]);
    assert.deepEqual(await ids(store, { agent: "agent-b" }), ["b"]);
    await appendTaskEvents(store, "a", { type: "task.ended", outcome: "failed" });
    await appendTaskEvents(store, "b", { type: "task.parked", until: AT, message: "later" });
    assert.deepEqual(await ids(store, { phases: ["failed", "parked"] }), ["b", "a"]);
    assert.deepEqual(await ids(store, { phases: [] }), []);
    assert.deepEqual(await ids(store, { phases: ["queued"], repository: "/c", agent: "agent-c", before: "b" }), ["c"]);
  }),

  storeCase("finds tasks by the start of their id", async (store) => {
    for (const id of ["fix-login", "fix-list", "fix", "add"]) await createTask(store, id);
    assert.deepEqual(await ids(store, { idPrefix: "fix" }), ["fix", "fix-list", "fix-login"]);
    assert.deepEqual(await ids(store, { idPrefix: "fix-li" }), ["fix-list"]);
    assert.deepEqual(await ids(store, { idPrefix: "" }), ["add", "fix", "fix-list", "fix-login"]);
    assert.deepEqual(await ids(store, { idPrefix: "ix" }), []);
    assert.deepEqual(await ids(store, { idPrefix: "fix%" }), []);
  }),

  storeCase("finds tasks with an open merge", async (store) => {
    for (const id of ["a", "b", "c"]) await createTask(store, id);
    const asked = { type: "merge.asked", how: "squash", into: "main" } as const;
    await appendTaskEvents(store, "a", { ...asked, mergeId: "m1" });
    await appendTaskEvents(store, "b", { ...asked, mergeId: "m2" });
    assert.deepEqual(await ids(store, { merging: true }), ["b", "a"]);
    await appendTaskEvents(store, "b", { type: "merge.ended", mergeId: "m2", outcome: "merged" });
    assert.deepEqual(await ids(store, { merging: true }), ["a"]);
    assert.deepEqual(await ids(store, { merging: false }), ["c", "b"]);
  }),

  storeCase("lists removed tasks only on request and does not count them", async (store) => {
    for (const id of ["a", "b", "c"]) await createTask(store, id);
    await appendTaskEvents(store, "b", { type: "task.ended", outcome: "stopped" }, { type: "task.removed" });
    await appendTaskEvents(store, "c", { type: "task.ended", outcome: "stopped" });
    assert.deepEqual(await ids(store), ["c", "a"]);
    assert.deepEqual(await ids(store, { removed: true }), ["c", "b", "a"]);
    const none = { queued: 0, preparing: 0, running: 0, parked: 0, done: 0, failed: 0, stopped: 0 };
    assert.deepEqual(await store.countTasks(), { ...none, queued: 1, stopped: 1 });
    assert.equal((await store.task("b"))?.removed, true);
  }),

  storeCase("lists the sessions of a task", async (store) => {
    await createTask(store);
    const open = (sessionId: string, task?: string) =>
      store.append(newAppend(0, [sessionOpened(task === undefined ? {} : { task })], { sessionId }));
    await open("ses_1", TASK);
    await open("ses_2");
    await open("ses_3", TASK);
    await open("ses_4", "another");
    const listed = async (task: string) => (await store.list({ task })).map(({ id }) => id);
    assert.deepEqual(await listed(TASK), ["ses_3", "ses_1"]);
    assert.deepEqual(await listed("another"), []); // a missing task
    assert.deepEqual(
      (await store.list({ task: TASK, limit: 1, before: "ses_3" })).map(({ id }) => id),
      ["ses_1"],
    );
    await store.append(newAppend(1, [sessionOpened({ task: TASK })], { sessionId: "ses_2" }));
    assert.deepEqual(await listed(TASK), ["ses_3", "ses_2", "ses_1"]);
  }),
];
