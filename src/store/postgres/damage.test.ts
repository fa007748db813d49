import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store, TaskClaim } from "../../domain/index.ts";
import {
  createTask,
  newAppend,
  newTaskAppend,
  outputText,
  sessionOpened,
  toTaskEventDraft,
} from "../contract/scene.ts";
import { hasTestPostgres, testSchemas } from "./fixtures/schemas.ts";
import { openPostgresStore } from "./open.ts";

const schemas = testSchemas();
const MINE = "ses_1";
const OTHER = "ses_0";
const TEXTS = ["{", "null", '{"id":5}'];

let schema: string;
let store: Store;

/** Two sessions and two tasks: those that are damaged are listed and claimed first. */
beforeEach(async () => {
  const options = await schemas.emptied();
  schema = options.schema;
  store = await openPostgresStore(options);
  for (const sessionId of [OTHER, MINE]) {
    await store.append(newAppend(0, [sessionOpened(), outputText("a"), outputText("b")], { sessionId }));
  }
  await createTask(store, "other");
  await createTask(store, "mine", { priority: 1 });
  await store[Symbol.asyncDispose]();
  store = await openPostgresStore(options); // an open store remembers what it wrote
});

afterEach(() => store[Symbol.asyncDispose]());

async function damage(change: string, value: unknown): Promise<void> {
  await schemas.query(`update "${schema}".${change}`, [value]);
}

function newClaim(more: Partial<TaskClaim> = {}): TaskClaim {
  const now = Date.now();
  return { owner: "me", now, until: now + 1_000, choose: (candidates) => candidates[0]?.id, ...more };
}

function corrupt(what: string): object {
  return { code: "log_corrupt", message: expect.stringContaining(what) };
}

describe.skipIf(!hasTestPostgres)("a damaged row of PostgreSQL", () => {
  it.each(TEXTS)("with the task state %j hides no other task, and its error names the task", async (text) => {
    await damage("task set state = $1 where id = 'mine'", text);
    expect((await store.tasks()).map(({ id }) => id)).toEqual(["other"]);
    expect((await store.tasks({ limit: 1 })).map(({ id }) => id)).toEqual(["other"]);
    await expect(store.task("mine")).rejects.toMatchObject(corrupt("the state of task mine"));
    await expect(store.claimTask(newClaim({ only: "mine" }))).rejects.toMatchObject(corrupt("the state of task mine"));
    const append = (taskId: string) =>
      store.appendTask(newTaskAppend(1, [toTaskEventDraft({ type: "task.ended", outcome: "stopped" })], { taskId }));
    const [mine, other] = await Promise.allSettled([append("mine"), append("other")]);
    expect(mine).toMatchObject({ status: "rejected", reason: corrupt("the state of task mine") });
    expect(other).toMatchObject({ status: "fulfilled" });
    const atHead = {
      taskId: "mine",
      id: "head",
      decide: () => [toTaskEventDraft({ type: "task.ended", outcome: "stopped" })],
    };
    await expect(store.appendTaskAtHead(atHead)).rejects.toMatchObject(corrupt("the state of task mine"));
  });

  it.each([
    ["state", "{}"],
    ["limits", "5"],
    ["limits", "{"],
  ])("with the %s %j in a waiting task does not keep others from a claim", async (column, text) => {
    await damage(`task set ${column} = $1 where id = 'mine'`, text);
    expect(await store.claimTask(newClaim())).toMatchObject({ state: { id: "other" } });
  });

  it.each(TEXTS)("with the summary %j hides no other session, and its error names the session", async (text) => {
    await damage(`session set summary = $1 where id = '${MINE}'`, text);
    expect((await store.list()).map(({ id }) => id)).toEqual([OTHER]);
    expect((await store.list({ limit: 1 })).map(({ id }) => id)).toEqual([OTHER]);
    const what = `the summary of session ${MINE}`;
    await expect(store.summary(MINE)).rejects.toMatchObject(corrupt(what));
    const append = (sessionId: string) => store.append(newAppend(3, [outputText("c")], { sessionId }));
    const [mine, other] = await Promise.allSettled([append(MINE), append(OTHER)]);
    expect(mine).toMatchObject({ status: "rejected", reason: corrupt(MINE) });
    expect(other).toMatchObject({ status: "fulfilled" });
  });

  it.each(["", "{", "{}", "null", '{"type":"agent.text","seq":2'])(
    "with the event %j is named in every read, and the events around it can be read",
    async (text) => {
      await damage(
        `event set body = $1 where seq = 2 and log = (select no from "${schema}".session where id = '${MINE}')`,
        text,
      );
      const error = corrupt(`event 2 of session ${MINE}`);
      await expect(store.read({ sessionId: MINE })).rejects.toMatchObject(error);
      const first = async (pages: AsyncIterable<unknown>) => {
        for await (const page of pages) return page;
        return undefined;
      };
      await expect(first(store.followText({ sessionId: MINE, after: 0 }))).rejects.toMatchObject(error);
      await expect(store.readFeed({ after: 0 })).rejects.toMatchObject(error);
      expect((await store.read({ sessionId: MINE, after: 2 })).events).toHaveLength(1);
      expect((await store.read({ sessionId: MINE, before: 2 })).events).toHaveLength(1);
      expect((await store.read({ sessionId: OTHER })).events).toHaveLength(3);
    },
  );

  it("of an idempotency key is an error that names the key, so that the request does not run twice", async () => {
    await store.keepResponse({ key: "k", digest: "d", at: 1_000 }, "done");
    await damage("request set log = $1", "nothing");
    await expect(store.keptRequest("k")).rejects.toMatchObject(corrupt("the request with key k"));
  });

  it("with an unknown phase or status is not counted", async () => {
    await damage("task set phase = $1 where id = 'mine'", "dreaming");
    await damage(`session set status = $1 where id = '${MINE}'`, "dreaming");
    expect(await store.countTasks()).toMatchObject({ queued: 1 });
    expect(await store.countTasks()).not.toHaveProperty("dreaming");
    expect(await store.countSessions()).not.toHaveProperty("dreaming");
  });

  it("of a lease leaves the list of held tasks readable", async () => {
    await store.claimTask(newClaim());
    await damage("lease set owner = $1", "\u0001{");
    expect((await store.heldTasks()).map(({ id }) => id)).toEqual(["mine"]);
  });
});
