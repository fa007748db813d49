import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type { FeedEvent, TaskEventBody } from "../domain/index.ts";
import { openScene } from "./test-scene.ts";

type Scene = Awaited<ReturnType<typeof openScene>>;

/** Returns the inputs of the turns in the newest session of the task. */
async function toldIn({ rookery, tasks }: Scene, id: string): Promise<string[]> {
  const { sessions } = await tasks.show(id);
  const { events } = await rookery.store.read({ sessionId: sessions.at(-1)?.id ?? "" });
  return events.flatMap((event) => (event.type === "turn.started" ? [JSON.stringify(event.input)] : []));
}

/** Appends events as a process did that died afterwards. */
async function left({ rookery: { store } }: Scene, taskId: string, ...bodies: TaskEventBody[]): Promise<void> {
  const at = new Date().toISOString();
  const { head } = await store.readTask({ taskId });
  const events = bodies.map((body) => ({ ...body, at }));
  await store.appendTask({ taskId, id: `left-${head}`, expectedHead: head, events });
}

async function firstEvent(feed: AsyncIterable<FeedEvent>, type: FeedEvent["event"]["type"]): Promise<unknown> {
  for await (const { event } of feed) if (event.type === type) return event;
  throw new Error(`the feed ended without ${type}`);
}

/** A process that nobody on this host can check. */
const OTHER_HOST_OWNER = "hx-1-1-other.1.1.abc/1";

/** Starts a task and stops it during its turn. Returns its session id. */
async function stopped(s: Scene, id: string): Promise<string> {
  await s.tasks.start({ id, prompt: "The work\nrun: [ -e begun ] || { touch begun; sleep 60; }" });
  const path = join(s.repository.path, ".rookery/worktrees", id, "begun");
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), 10_000);
  const { sessions } = await s.tasks.stop(id);
  return sessions[0]?.id ?? "";
}

it("does not count a turn of the user in the session of a stopped task as the task's own turn", async () => {
  await using s = await openScene();
  s.run();
  const sessionId = await stopped(s, "half");
  await using session = await s.rookery.openSession({ id: sessionId });
  expect(await session.prompt("run: true").outcome).toMatchObject({ status: "done" });
  await session[Symbol.asyncDispose]();
  await s.tasks.resume("half");
  await s.until("half", "done");
  expect(await toldIn(s, "half")).toEqual([
    expect.stringContaining("The work"),
    expect.stringContaining("run: true"),
    expect.stringMatching(/interrupted.*The work/) as string,
  ]);
});

it("waits until the lease of another host on the session has ended", async () => {
  await using s = await openScene();
  s.run();
  const sessionId = await stopped(s, "half");
  const { store } = s.rookery;
  const now = Date.now();
  const lease = await store.acquireLease({ sessionId, owner: OTHER_HOST_OWNER, now, until: now + 60_000 });
  await s.tasks.resume("half");
  const notice = await firstEvent(s.rookery.follow({ task: "half" }), "notice");
  expect(notice).toMatchObject({ code: "session_in_use" });
  await store.releaseLease(lease);
  await s.until("half", "done");
  const { events } = await store.readTask({ taskId: "half" });
  expect(events.filter(({ type }) => type === "notice")).toHaveLength(1);
});

it("stops a task that waits for its session", async () => {
  await using s = await openScene();
  s.run();
  const sessionId = await stopped(s, "half");
  const now = Date.now();
  await s.rookery.store.acquireLease({ sessionId, owner: OTHER_HOST_OWNER, now, until: now + 60_000 });
  await s.tasks.resume("half");
  await s.until("half", "preparing");
  await s.tasks.stop("half");
  await s.until("half", "stopped");
});

it("runs input that the user queued in the session of a stopped task before the task continues", async () => {
  await using s = await openScene();
  s.run();
  const sessionId = await stopped(s, "half");
  const { store } = s.rookery;
  const summary = await store.summary(sessionId);
  const input = [{ type: "text" as const, text: "run: touch queued" }];
  await store.append({
    sessionId,
    id: "queued",
    expectedHead: summary?.head ?? 0,
    events: [{ type: "input.queued", inputId: "inp_1", input, agent: "robin", at: new Date().toISOString() }],
  });
  await s.tasks.resume("half");
  await s.until("half", "done");
  expect((await toldIn(s, "half"))[1]).toContain("touch queued");
  expect(await s.repository.git("ls-tree", "--name-only", "rookery/half")).toContain("queued");
});

it("sends the user's prompt once, even if the process died after the turn", async () => {
  await using s = await openScene();
  const stop = new AbortController();
  const running = s.rookery.runTasks({ signal: stop.signal });
  const sessionId = await stopped(s, "once");
  stop.abort();
  await running;
  await left(
    s,
    "once",
    { type: "task.queued", why: "resumed", prompt: "run: echo x >> count" },
    { type: "task.started", run: 2, owner: "1.1.dead/1" },
    { type: "stage.started", stage: 0, name: "work", attempt: 1, sessionId, turns: 1, turnId: "trn_own" },
  );
  const session = await s.rookery.openSession({ id: sessionId });
  await session.prompt("run: echo x >> count", { turnId: "trn_own" }).outcome;
  await session[Symbol.asyncDispose]();
  s.run();
  await s.until("once", "done");
  expect(await s.repository.git("show", "rookery/once:count")).toBe("x");
});

it("passes the user's prompt and the output of the failed check to the agent", async () => {
  await using s = await openScene({
    toml: `[pipelines.p]\nstages = [{ name = "code", agent = "robin" }, { run = "echo bad; test -e good" }]\n`,
  });
  s.run();
  await s.tasks.start({ id: "bad", prompt: "run: true", pipeline: "p" });
  await s.until("bad", "failed");
  await s.tasks.resume("bad", { prompt: "run: touch good" });
  await s.until("bad", "done");
  expect((await toldIn(s, "bad"))[1]).toMatch(/did not pass.*bad.*touch good/);
});

it("resumes a task that is done only with a prompt", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "ready", prompt: "run: touch one" });
  await s.until("ready", "done");
  for (const options of [{}, { budget: { tokens: 1_000_000 } }]) {
    await expect(s.tasks.resume("ready", options)).rejects.toMatchObject({
      code: "input_invalid",
      message: expect.stringContaining('rookery task resume ready "PROMPT"') as string,
    });
  }
  expect(await toldIn(s, "ready")).toHaveLength(1);
});

it("adds the task's prompt to the user's if the agent has not worked yet", async () => {
  await using s = await openScene({ toml: `[worktree]\nsetup = "test -e $ROOKERY_WORKTREE/../ready"\n` });
  s.run();
  await s.tasks.start({ id: "late", prompt: "The work\nrun: touch work" });
  await s.until("late", "failed");
  await s.repository.write(".rookery/worktrees/ready", "");
  await s.tasks.resume("late", { prompt: "run: touch more" });
  await s.until("late", "done");
  expect(await toldIn(s, "late")).toEqual([expect.stringMatching(/The work.*touch more/)]);
});

it("sends no request when a task over its token budget is resumed", async () => {
  await using s = await openScene();
  s.run();
  const sessionId = await stopped(s, "spent");
  const { store } = s.rookery;
  const summary = await store.summary(sessionId);
  const usage = { type: "usage.reported" as const, inputTokens: 900, outputTokens: 200 };
  await store.append({
    sessionId,
    id: "usage",
    expectedHead: summary?.head ?? 0,
    events: [{ ...usage, agent: "robin", at: new Date().toISOString() }],
  });
  await s.tasks.resume("spent", { budget: { tokens: 1000 } });
  const view = await s.until("spent", "stopped");
  expect(view).toMatchObject({ code: "budget_reached", message: expect.stringContaining("1100 of 1000") as string });
  expect(await toldIn(s, "spent")).toHaveLength(1);
});

/** The check sends the task back to the reader once. The reader then waits until it is interrupted. */
const READING = `
[pipelines.read]
stages = [
  { agent = "robin" },
  { agent = "wren", prompt = """
Read it. {feedback}
run: test ! -e "$TMPDIR/failed" || test -e "$TMPDIR/go" || sleep 1000""" },
  { name = "check", run = 'test -e "$TMPDIR/go" || { touch "$TMPDIR/failed"; echo a page is missing; exit 1; }', back_to = "wren" },
]
`;

it("repeats the instructions of the stage and the feedback to an interrupted agent", async () => {
  await using s = await openScene({ toml: READING });
  s.run();
  await s.tasks.start({ id: "read", prompt: "Write it", pipeline: "read" });
  await vi.waitFor(async () => expect(await toldIn(s, "read")).toHaveLength(2), { timeout: 20_000 });
  await s.tasks.stop("read");
  await writeFile(join(s.folder, "go"), "");
  await s.tasks.resume("read");
  await s.until("read", "done");
  const [, , last] = await toldIn(s, "read");
  expect(last).toMatch(/You were interrupted.*Read it\. .*a page is missing/);
  expect(last).not.toContain("Write it");
});
