import { expect, it } from "vitest";
import type { SessionEvent } from "../../../src/domain/events.ts";
import { emptySummary } from "../../../src/domain/summary.ts";
import type { TaskEvent } from "../../../src/domain/task/events.ts";
import { RosterFold } from "./fold.ts";

const AT = "2026-01-01T00:00:00.000Z";

function opened(sessionId: string, seq: number, title: string): SessionEvent {
  const body = { type: "session.opened", backend: "api", cwd: "/w", permissions: "ask", title } as const;
  return { ...body, sessionId, seq, at: AT, agent: "claude" };
}

const notice = (sessionId: string, seq: number): SessionEvent => {
  return { type: "notice", level: "info", code: "x", message: "y", sessionId, seq, at: AT, agent: "claude" };
};

it("applies events after the snapshot once, including those that arrived before it", () => {
  const fold = new RosterFold();
  fold.hold();
  fold.add([notice("ses_1", 3), notice("ses_1", 4)]);
  fold.start([{ ...emptySummary("ses_1"), head: 3 }], []);
  fold.add([notice("ses_1", 4), notice("ses_1", 5), opened("ses_2", 1, "new")]);
  const { sessions } = fold.takeChanges(0);
  expect([...sessions.values()]).toMatchObject([{ head: 5 }, { head: 1, title: "new" }]);
  expect(fold.hasGap).toBe(false);
  expect(fold.takeChanges(0).sessions.size).toBe(0);
});

it("leaves out a deleted session, even if the snapshot still has it", () => {
  const fold = new RosterFold();
  fold.hold();
  fold.add([notice("ses_1", 4)]);
  fold.removeSession("ses_1");
  fold.start(
    [
      { ...emptySummary("ses_1"), head: 3 },
      { ...emptySummary("ses_2"), head: 1 },
    ],
    [],
  );
  expect([...fold.takeChanges(0).sessions.keys()]).toEqual(["ses_2"]);
  fold.removeSession("ses_2");
  expect([...fold.takeChanges(0).sessions]).toEqual([["ses_2", undefined]]);
  expect(fold.hasGap).toBe(false);
});

it("says that a snapshot is needed for a session whose earlier events it does not have", () => {
  const fold = new RosterFold();
  fold.start([], []);
  fold.add([notice("ses_old", 7)]);
  expect(fold.hasGap).toBe(true);
  expect(fold.takeChanges(0).sessions.size).toBe(0);
});

it("shows the question of a task, and the task that another one waits for", () => {
  const fold = new RosterFold();
  const spec = {
    title: "T",
    stages: [{ kind: "agent", name: "work", agent: "a" }],
    needs: [],
    prompt: "p",
    agent: "a",
  };
  const task = (taskId: string, seq: number, body: object) =>
    ({ ...body, taskId, seq, at: AT }) as unknown as TaskEvent;
  fold.start([], []);
  fold.add([
    task("one", 1, { type: "task.created", spec }),
    task("one", 2, { type: "task.started", run: 1, owner: "o" }),
    task("one", 3, { type: "stage.started", stage: 0, name: "work", attempt: 1, sessionId: "ses_1" }),
    task("two", 1, { type: "task.created", spec: { ...spec, needs: ["one"] } }),
    { ...opened("ses_1", 1, "one"), task: "one" } as SessionEvent,
  ]);
  expect(fold.takeChanges(0).tasks.get("two")?.message).toBe("needs one, which is running");
  const turn = { sessionId: "ses_1", at: AT, agent: "a", turnId: "t" };
  fold.add([
    { ...turn, seq: 2, type: "turn.started", input: [{ type: "text", text: "x" }] },
    { ...turn, seq: 3, type: "question.asked", requestId: "r", message: "Which release?" },
  ]);
  const { tasks } = fold.takeChanges(0);
  expect(tasks.get("one")).toMatchObject({ status: "waiting", lastLine: "Which release?" });
  expect(tasks.get("two")?.message).toBe("needs one, which waits for an answer");
});
