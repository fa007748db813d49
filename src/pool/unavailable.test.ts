import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { TaskEventBody } from "../domain/index.ts";
import { openScene } from "./test-scene.ts";

const API_AGENT = `[agents.jay]\nmodel = "openai/gpt-5.4"\n`;

/** Leaves a task as a process with a key leaves it that dies while its agent waits for an answer. */
async function leaveWaiting(s: Awaited<ReturnType<typeof openScene>>, id: string): Promise<string> {
  const { store } = s.rookery;
  await s.tasks.start({ id, prompt: "the work", agent: "jay" });
  const at = new Date().toISOString();
  const session = await s.rookery.openSession({ agent: "jay", task: id, apiKey: "sk-test", cwd: s.repository.path });
  const sessionId = session.id;
  await session[Symbol.asyncDispose]();
  const summary = await store.summary(sessionId);
  const turn = { agent: "jay", at, turnId: "trn_1" };
  await store.append({
    sessionId,
    id: "turn",
    expectedHead: summary?.head ?? 0,
    events: [
      { ...turn, type: "turn.started", input: [{ type: "text", text: "the work" }] },
      { ...turn, type: "question.asked", requestId: "r1", message: "which database?" },
    ],
  });
  const { head } = await store.readTask({ taskId: id });
  const bodies: TaskEventBody[] = [
    { type: "task.started", run: 1, owner: "1.1.dead/1" },
    { type: "stage.started", stage: 0, name: "work", attempt: 1, sessionId, turns: 0, turnId: "trn_1" },
  ];
  await store.appendTask({
    taskId: id,
    id: "left",
    expectedHead: head,
    events: bodies.map((body) => ({ ...body, at })),
  });
  return sessionId;
}

it("queues a task again that this process cannot continue, and says what it lacks", async () => {
  await using s = await openScene({ toml: API_AGENT });
  await leaveWaiting(s, "asks");
  await s.rookery.runTasks({ only: "asks", signal: AbortSignal.timeout(60_000) });
  const { status, message = "", runs } = await s.tasks.show("asks");
  expect([status, runs]).toEqual(["queued", 2]);
  expect(message).toMatch(/^process \d+ cannot run the agent jay to continue this task: .*OPENAI_API_KEY is not set/);
  expect(message).toMatch(/restart rookery serve with what it lacks$/);
  await s.rookery.runTasks({ only: "asks", signal: AbortSignal.timeout(60_000) });
  expect((await s.tasks.show("asks")).runs).toBe(2); // the same process does not try again at once
});

it("lets another process take the task at once", async () => {
  await using s = await openScene({ toml: API_AGENT });
  await leaveWaiting(s, "asks");
  await s.rookery.runTasks({ only: "asks", signal: AbortSignal.timeout(60_000) });
  await writeFile(join(s.repository.path, "rookery.toml"), `[agents.jay]\nbackend = "command"\ncommand = ["true"]\n`);
  const other = await s.open();
  await other.runTasks({ only: "asks", signal: AbortSignal.timeout(60_000) });
  expect((await s.tasks.show("asks")).runs).toBe(3);
});
