/** Contract of summaries: updated with each append, listed newest first. */
import assert from "node:assert/strict";
import type { ListQuery, SessionStore } from "../../domain/index.ts";
import { newAppend, AT, toEventDraft, storeCase, numbers, sessionOpened, writeTestSession, SESSION } from "./scene.ts";

async function ids(store: SessionStore, query?: ListQuery): Promise<string[]> {
  return (await store.list(query)).map(({ id }) => id);
}

async function open(
  store: SessionStore,
  sessionId: string,
  more: { cwd?: string; parent?: string; agent?: string; task?: string; depth?: number } = {},
) {
  const { agent, ...body } = more;
  await store.append(
    newAppend(0, [{ ...sessionOpened(body), ...(agent === undefined ? {} : { agent }) }], { sessionId }),
  );
}

export const listCases = [
  storeCase("counts the sessions in each status", async (store) => {
    const none = { idle: 0, running: 0, waiting: 0, closed: 0, copying: 0, parked: 0 };
    assert.deepEqual(await store.countSessions(), none);
    for (const id of ["ses_1", "ses_2", "ses_3"]) await open(store, id);
    const start = toEventDraft({ type: "turn.started", input: [] });
    await store.append(newAppend(1, [start], { sessionId: "ses_2" }));
    await store.append(newAppend(1, [toEventDraft({ type: "session.closed" })], { sessionId: "ses_3" }));
    assert.deepEqual(await store.countSessions(), { ...none, idle: 1, running: 1, closed: 1 });
  }),

  storeCase("passes its check while it is open", async (store) => {
    await store.check();
    await writeTestSession(store);
    await store.check();
  }),

  storeCase("updates the summary with the log", async (store) => {
    await writeTestSession(store);
    assert.deepEqual(await store.summary(SESSION), {
      id: SESSION,
      head: 1,
      agent: "coder",
      backend: "api",
      cwd: "/repo",
      createdAt: AT,
      updatedAt: AT,
      status: "idle",
      turns: 0,
      waitingFor: [],
    });
    const later = "2026-01-03T00:00:00.000Z";
    const start = toEventDraft({ type: "turn.started", input: [{ type: "text", text: "Fix it\nplease" }] });
    const ask = toEventDraft({ type: "question.asked", requestId: "req_1", message: "Which?" });
    await store.append(newAppend(1, [start, { ...ask, turnId: "trn_1", at: later }]));
    const waiting = await store.summary(SESSION);
    assert.deepEqual(
      [waiting?.status, waiting?.title, waiting?.turns, waiting?.waitingFor, waiting?.updatedAt, waiting?.createdAt],
      ["waiting", "Fix it", 1, ["req_1"], later, AT],
    );
    await store.append(newAppend(3, [toEventDraft({ type: "turn.ended", outcome: { status: "done" } })]));
    await store.append(newAppend(4, [toEventDraft({ type: "session.closed" })]));
    const closed = await store.summary(SESSION);
    assert.deepEqual([closed?.status, closed?.lastOutcome, closed?.head], ["closed", "done", 5]);
    assert.deepEqual(await store.list(), [closed]);
  }),

  storeCase("keeps requests outside of a turn pending across turns", async (store) => {
    await writeTestSession(store);
    const ask = toEventDraft({ type: "question.asked", requestId: "req_1", message: "Which?" });
    const start = toEventDraft({ type: "turn.started", input: [] });
    const end = toEventDraft({ type: "turn.ended", outcome: { status: "done" } });
    const permit = toEventDraft({ type: "question.asked", requestId: "req_2", message: "Sure?" });
    const seen = async () => {
      const summary = await store.summary(SESSION);
      return [summary?.status, ...(summary?.waitingFor ?? [])];
    };
    await store.append(newAppend(1, [ask]));
    assert.deepEqual(await seen(), ["idle", "req_1"]);
    await store.append(newAppend(2, [start, { ...permit, turnId: "trn_1" }]));
    assert.deepEqual(await seen(), ["waiting", "req_1", "req_2"]);
    await store.append(newAppend(4, [end]));
    assert.deepEqual(await seen(), ["idle", "req_1"]);
    const answer = toEventDraft({ type: "question.answered", requestId: "req_1", action: "accept", by: "person" });
    await store.append(newAppend(5, [answer]));
    assert.deepEqual(await seen(), ["idle"]);
  }),

  storeCase("lists sessions newest first and in pages", async (store) => {
    const all = numbers(1, 7).map((number) => `ses_${number}`);
    for (const id of ["ses_3", "ses_1", "ses_7", "ses_2", "ses_6", "ses_5", "ses_4"]) await open(store, id);
    assert.deepEqual(await ids(store), all.toReversed());
    assert.deepEqual(await ids(store, { limit: 3 }), ["ses_7", "ses_6", "ses_5"]);
    assert.deepEqual(await ids(store, { limit: 3, before: "ses_5" }), ["ses_4", "ses_3", "ses_2"]);
    assert.deepEqual(await ids(store, { limit: 3, before: "ses_2" }), ["ses_1"]);
    assert.deepEqual(await ids(store, { before: "ses_1" }), []);
  }),

  storeCase("filters sessions by agent, folder, parent and status", async (store) => {
    await open(store, "ses_1", { cwd: "/a", agent: "claude" });
    await open(store, "ses_2", { cwd: "/b", agent: "codex", parent: "ses_1" });
    await open(store, "ses_3", { cwd: "/a", agent: "codex", parent: "ses_1" });
    await store.append(newAppend(1, [toEventDraft({ type: "turn.started", input: [] })], { sessionId: "ses_3" }));
    await store.append(
      newAppend(1, [toEventDraft({ type: "agent.switched", from: "claude", to: "codex" })], { sessionId: "ses_1" }),
    );
    assert.deepEqual(await ids(store, { agent: "codex" }), ["ses_3", "ses_2", "ses_1"]);
    assert.deepEqual(await ids(store, { agent: "claude" }), []);
    assert.deepEqual(await ids(store, { cwd: "/a" }), ["ses_3", "ses_1"]);
    assert.deepEqual(await ids(store, { parent: "ses_1" }), ["ses_3", "ses_2"]);
    assert.deepEqual(await ids(store, { status: "running" }), ["ses_3"]);
    assert.deepEqual(await ids(store, { status: "idle", cwd: "/a" }), ["ses_1"]);
    assert.deepEqual(await ids(store, { parent: "ses_1", before: "ses_3" }), ["ses_2"]);
    assert.deepEqual(await ids(store, { agent: "nobody" }), []);
  }),

  storeCase("lists sessions whose working directory is in one of several directories", async (store) => {
    const folders = ["/a", "/a/b", "/ab", "/c", "/", "/a%/b"];
    for (const [index, cwd] of folders.entries()) await open(store, `ses_${index}`, { cwd });
    assert.deepEqual(await ids(store, { within: ["/a"] }), ["ses_1", "ses_0"]);
    assert.deepEqual(await ids(store, { within: ["/c", "/a/b"] }), ["ses_3", "ses_1"]);
    assert.deepEqual(await ids(store, { within: ["/"] }), ["ses_5", "ses_4", "ses_3", "ses_2", "ses_1", "ses_0"]);
    assert.deepEqual(await ids(store, { within: ["/"], before: "ses_2", limit: 1 }), ["ses_1"]);
    assert.deepEqual(await ids(store, { within: [] }), []);
  }),

  storeCase("lists sessions that a person started", async (store) => {
    await open(store, "ses_1");
    await open(store, "ses_2", { task: "t" });
    await open(store, "ses_3", { parent: "ses_1", depth: 1 });
    await open(store, "ses_4", { parent: "ses_2" }); // a fork
    assert.deepEqual(await ids(store, { startedBy: "person" }), ["ses_4", "ses_1"]);
    assert.deepEqual(await ids(store, { startedBy: "person", limit: 1 }), ["ses_4"]);
  }),

  storeCase("finds sessions by the start of their id or short id", async (store) => {
    const [first, second, third] = ["ses_0aaaaa0000000x1234567", "ses_0aaaab0000000x1299999", "ses_3"] as const;
    for (const id of [first, second, third]) await open(store, id);
    for (const prefix of [first, "ses_0aaaaa", "0aaaaa", "x1234567", "x123"])
      assert.deepEqual(await ids(store, { idPrefix: prefix }), [first], prefix);
    for (const prefix of ["ses_0a", "0aaaa", "x12", "x"])
      assert.deepEqual(await ids(store, { idPrefix: prefix }), [second, first], prefix);
    assert.deepEqual(await ids(store, { idPrefix: "3" }), [third]);
    for (const prefix of ["1234567", "ses_x12", "aaaa", "%", "_", "x1234567x"])
      assert.deepEqual(await ids(store, { idPrefix: prefix }), [], prefix);
    assert.deepEqual(await ids(store, { idPrefix: "x12", limit: 1 }), [second]);
  }),

  storeCase("lists an incomplete copy only under its own status", async (store) => {
    const opened = sessionOpened({ parent: "ses_9" });
    await store.append(newAppend(0, [{ ...opened, copying: true } as typeof opened], { sessionId: "ses_1" }));
    const turn = [
      toEventDraft({ type: "turn.started", input: [] }),
      toEventDraft({ type: "question.asked", requestId: "r1", message: "?" }),
      toEventDraft({ type: "question.answered", requestId: "r1", action: "accept", by: "person" }),
      toEventDraft({ type: "turn.ended", outcome: { status: "done" } }),
    ];
    for (const [index, event] of turn.entries()) {
      await store.append(newAppend(1 + index, [event], { sessionId: "ses_1" }));
      assert.deepEqual(await ids(store), []);
      assert.deepEqual(await ids(store, { parent: "ses_9" }), []);
      assert.deepEqual(await ids(store, { status: "copying" }), ["ses_1"]);
    }
    await store.append(newAppend(5, [sessionOpened()], { sessionId: "ses_1" }));
    assert.deepEqual(await ids(store, { status: "copying" }), []);
    assert.deepEqual(await ids(store, { parent: "ses_9", status: "idle" }), ["ses_1"]);
  }),
];
