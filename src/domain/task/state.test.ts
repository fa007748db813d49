import { describe, expect, it } from "vitest";
import { TaskEvent, type TaskEventBody } from "./events.ts";
import type { TaskSpec } from "./spec.ts";
import { applyTask, isEnded, isHeld, type TaskState } from "./state.ts";

const SPEC: TaskSpec = {
  prompt: "do it",
  title: "do it",
  repository: "/project",
  agent: "robin",
  provider: "p",
  priority: 0,
  needs: [],
  retries: 1,
  budget: {},
  stages: [
    { kind: "agent", name: "code", agent: "robin", tries: 1 },
    { kind: "command", name: "check", command: "true", timeout: 1, tries: 3, backTo: "code" },
  ],
  limits: {},
};

/** Events one second apart. */
function fold(...bodies: TaskEventBody[]): TaskState {
  const all: TaskEventBody[] = [{ type: "task.created", spec: SPEC }, ...bodies];
  const events = all.map((body, index) =>
    TaskEvent.parse({ ...body, seq: index + 1, taskId: "it", at: new Date(index * 1000).toISOString() }),
  );
  const [first, ...rest] = events;
  if (first === undefined) throw new Error("nothing happened");
  return rest.reduce<TaskState>(applyTask, applyTask(undefined, first));
}

const started = (run = 1): TaskEventBody => ({ type: "task.started", run, owner: "1.1.a/1" });
const MADE: TaskEventBody = {
  type: "worktree.made",
  path: "/project/.rookery/worktrees/it",
  branch: "rookery/it",
  base: "main",
  baseCommit: "0".repeat(40),
  anew: true,
};
const READY: TaskEventBody = { type: "worktree.ready", setUp: false };
const stage = (index: number, attempt = 1): TaskEventBody => ({
  type: "stage.started",
  stage: index,
  name: SPEC.stages[index]?.name ?? "",
  attempt,
  ...(index === 0 && { sessionId: "ses_1", turns: 0 }),
});

describe("the state of a task", () => {
  it.each<[string, TaskEventBody[], TaskState["phase"]]>([
    ["given", [], "queued"],
    ["taken", [started()], "preparing"],
    ["set up", [started(), MADE, READY], "running"],
    ["parked", [started(), MADE, READY, { type: "task.parked", until: "2030-01-01T00:00:00Z", message: "" }], "parked"],
    ["left by a dead process", [started(), { type: "task.queued", why: "interrupted" }], "queued"],
    ["stopped", [started(), { type: "task.ended", outcome: "stopped" }], "stopped"],
    [
      "resumed",
      [started(), { type: "task.ended", outcome: "failed" }, { type: "task.queued", why: "resumed" }],
      "queued",
    ],
  ])("that is %s", (_, events, phase) => {
    const state = fold(...events);
    expect(state.phase).toBe(phase);
    expect([isHeld(state), isEnded(state)]).toEqual([
      ["preparing", "running"].includes(phase),
      ["done", "failed", "stopped"].includes(phase),
    ]);
  });

  it("counts running time and not waiting time", () => {
    const state = fold(started(), READY, { type: "task.queued", why: "interrupted" }, started(2));
    expect([state.ranMs, state.runningSince, state.runs]).toEqual([2000, new Date(4000).toISOString(), 2]);
    expect(state.owner).toBe("1.1.a/1");
  });

  it("returns to an earlier stage with feedback, and counts attempts", () => {
    const state = fold(
      ...[started(), stage(0), { type: "stage.ended", stage: 0, name: "code", passed: true } as const, stage(1)],
      { type: "stage.ended", stage: 1, name: "check", passed: false, message: "no", backTo: 0 },
      stage(0, 2),
    );
    expect(state).toMatchObject({ stage: 0, attempts: { 0: 2, 1: 1 }, feedback: "no", current: { attempt: 2 } });
    expect(state.sessions).toEqual([{ id: "ses_1", stage: "code" }]);
  });

  it("restores all attempts when a person resumes it, and restarts if it was done", () => {
    const at = [
      started(),
      stage(0),
      { type: "stage.ended", stage: 0, name: "code", passed: true } as const,
      stage(1, 3),
    ];
    const failed = fold(
      ...at,
      { type: "task.ended", outcome: "failed" },
      { type: "task.queued", why: "resumed", prompt: "so" },
    );
    expect(failed).toMatchObject({ stage: 0, mends: 0, attempts: {}, retried: 0, said: "so" });
    expect(failed.current).toBeUndefined();
    const wordless = fold(...at, { type: "task.ended", outcome: "failed" }, { type: "task.queued", why: "resumed" });
    expect(wordless).toMatchObject({ stage: 1, attempts: {}, current: { stage: 1, attempt: 1 } });
    const done = fold(...at, { type: "task.ended", outcome: "done" }, { type: "task.queued", why: "resumed" });
    expect(done).toMatchObject({ stage: 0, attempts: {} });
    expect(done.current).toBeUndefined();
  });

  it("keeps a person's message until an agent has received it", () => {
    const resumed: TaskEventBody = { type: "task.queued", why: "resumed", prompt: "so" };
    const ended: TaskEventBody = { type: "task.ended", outcome: "failed" };
    const asked = [started(), stage(0), ended, resumed, started(2)];
    expect(fold(...asked, ended).said).toBe("so"); // for example because its setup failed
    expect(fold(...asked, ended, { type: "task.queued", why: "resumed" }).said).toBe("so");
    expect(fold(...asked, stage(0), { type: "task.queued", why: "interrupted" }).said).toBe("so");
    expect(fold(...asked, stage(0), ended).said).toBeUndefined();
    expect(
      fold(...asked, stage(0), { type: "stage.ended", stage: 0, name: "code", passed: true }).said,
    ).toBeUndefined();
    const checked = { type: "stage.ended", stage: 1, name: "check", passed: false, backTo: 0 } as const;
    expect(fold(...asked, stage(1), checked).said).toBe("so");
  });

  it("remembers the stage that fixes a failure until it passes", () => {
    const passed = (index: number): TaskEventBody => ({ type: "stage.ended", stage: index, name: "", passed: true });
    const back = [
      ...[started(), stage(0), passed(0), stage(1)],
      { type: "stage.ended", stage: 1, name: "check", passed: false, message: "no", backTo: 0 } as const,
    ];
    expect(fold(...back).mends).toBe(0);
    expect(fold(...back, stage(0, 2), passed(0)).mends).toBeUndefined();
  });

  it("keeps its setup when only its port changes", () => {
    expect(fold(started(), MADE, READY, { ...MADE, anew: false, port: 9 }).worktree).toMatchObject({
      ready: true,
      port: 9,
    });
    expect(fold(started(), MADE, READY, MADE).worktree).toMatchObject({ ready: false });
  });

  it("keeps a stop request until a person resumes the task", () => {
    const asked = [started(), { type: "task.stop_asked" } as const];
    expect(fold(...asked, { type: "task.queued", why: "interrupted" }).stopAsked).toBe(true);
    expect(
      fold(...asked, { type: "task.ended", outcome: "stopped" }, { type: "task.queued", why: "resumed" }).stopAsked,
    ).toBe(false);
  });

  it("tracks the progress of its merge, and ignores events of another merge", () => {
    const ask: TaskEventBody = { type: "merge.asked", mergeId: "mrg_1", how: "squash", into: "main" };
    expect(fold(ask, { type: "merge.prepared", mergeId: "mrg_1", commit: "c" }).merge).toMatchObject({ commit: "c" });
    const other = fold(ask, { type: "merge.ended", mergeId: "mrg_0", outcome: "merged", commit: "x" });
    expect([other.merge?.outcome, other.merge?.commit]).toEqual([undefined, undefined]);
    const ended = fold(ask, { type: "merge.ended", mergeId: "mrg_1", outcome: "conflicts", conflicts: ["a"] });
    expect(ended.merge).toMatchObject({ outcome: "conflicts", conflicts: ["a"] });
  });
});
