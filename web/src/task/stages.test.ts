import { expect, it } from "vitest";
import type { TaskEvent, TaskEventBody } from "../../../src/domain/task/events.ts";
import type { Stage, TaskSpec } from "../../../src/domain/task/spec.ts";
import { listPipelineSteps, listStageRuns, MAX_OUTPUT } from "./stages.ts";
import { TaskEventList } from "./task-event-list.ts";

const STAGES: readonly Stage[] = [
  { kind: "agent", name: "code", agent: "robin", tries: 2 },
  { kind: "command", name: "check", command: "npm test", timeout: 60, tries: 2, backTo: "code" },
];
const CREATED: TaskEventBody = {
  type: "task.created",
  spec: { stages: [...STAGES], title: "t", prompt: "p" } as unknown as TaskSpec,
};

/** Events one second apart. */
function log(...bodies: readonly TaskEventBody[]): TaskEvent[] {
  return [CREATED, ...bodies].map((body, index) => ({
    ...body,
    seq: index + 1,
    taskId: "t",
    at: new Date(index * 1_000).toISOString(),
  }));
}

const started = (stage: number, attempt = 1): TaskEventBody => ({
  type: "stage.started",
  stage,
  name: STAGES[stage]?.name ?? "",
  attempt,
});
const ended = (stage: number, passed: boolean, message?: string): TaskEventBody => ({
  type: "stage.ended",
  stage,
  name: STAGES[stage]?.name ?? "",
  passed,
  message,
});
const output = (from: string, text: string): TaskEventBody => ({ type: "output.text", from, text });

it("lists each run of a stage with its times, result and output", () => {
  const runs = listStageRuns(
    log(
      started(0),
      ended(0, true),
      started(1),
      output("check", "1 "),
      output("check", "failed"),
      ended(1, false, "exit 1"),
      started(0, 2),
    ),
  );
  expect(
    runs.map(({ name, attempt, status, message, output: text }) => [name, attempt, status, message, text]),
  ).toEqual([
    ["code", 1, "passed", undefined, ""],
    ["check", 1, "failed", "exit 1", "1 failed"],
    ["code", 2, "running", undefined, ""],
  ]);
  expect(runs[1]).toMatchObject({ kind: "command", command: "npm test", startedAt: "1970-01-01T00:00:03.000Z" });
  expect(listPipelineSteps(STAGES, runs)).toMatchObject([
    { name: "code", status: "running", runs: 2, tookMs: 1_000, since: "1970-01-01T00:00:07.000Z", detail: "robin" },
    { name: "check", status: "failed", runs: 1, tookMs: 3_000, message: "exit 1", detail: "npm test" },
  ]);
});

it("ends the running stage when the task stops, fails or waits", () => {
  const status = (...last: readonly TaskEventBody[]) => listStageRuns(log(started(0), ...last)).at(-1)?.status;
  expect(status({ type: "task.ended", outcome: "stopped" })).toBe("interrupted");
  expect(status({ type: "task.ended", outcome: "failed" })).toBe("failed");
  expect(status({ type: "task.parked", until: "2030-01-01T00:00:00Z", message: "limit" })).toBe("interrupted");
});

it("lists the setup, and the gate of a merge that is asked for after the end", () => {
  const made = { path: "/w", branch: "b", base: "main", baseCommit: "c", anew: true };
  const asked: TaskEventBody = { type: "merge.asked", mergeId: "m", how: "merge", into: "main", gate: "make" };
  const runs = listStageRuns(
    log(
      { type: "worktree.made", ...made },
      output("setup", "installed"),
      { type: "worktree.ready", setUp: true },
      { type: "task.ended", outcome: "done" },
      asked,
      output("gate", "red"),
      { type: "merge.ended", mergeId: "m", outcome: "gate_failed", message: "exit 2" },
    ),
  );
  expect(runs.map(({ kind, status, output: text }) => [kind, status, text])).toEqual([
    ["setup", "passed", "installed"],
    ["gate", "failed", "red"],
  ]);
  expect(listPipelineSteps(STAGES, runs).map(({ name, status }) => [name, status])).toEqual([
    ["setup", "passed"],
    ["code", "waiting"],
    ["check", "waiting"],
  ]);
});

it("keeps the end of a long output", () => {
  const [run] = listStageRuns(log(started(1), output("check", "x".repeat(MAX_OUTPUT)), output("check", "end")));
  expect(run?.output).toHaveLength(MAX_OUTPUT);
  expect(run?.output.endsWith("xend")).toBe(true);
  expect(run?.omitted).toBe(3);
});

it("joins pages with the events that arrive while they are read, without gaps or duplicates", () => {
  const all = log(started(0), ended(0, true), started(1), ended(1, true));
  const list = new TaskEventList();
  list.addPage(all.slice(0, 2));
  list.add(all.slice(1, 4)); // from the feed, before the next page
  expect(list.events()).toEqual(all.slice(0, 2));
  list.addPage(all.slice(2, 3));
  list.start();
  list.add(all.slice(2));
  expect(list.events()).toEqual(all);
});
