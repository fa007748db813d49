import { expect, it } from "vitest";
import type { TaskState } from "../domain/index.ts";
import { formatQueueLimit, type TaskQueue } from "./queue-reason.ts";

const LIMITS = { repository: undefined, agent: undefined, provider: undefined };

function task(id: string, spec: Partial<TaskState["spec"]> = {}): TaskState {
  const given = { repository: "/r", agent: "robin", provider: "p", priority: 0, limits: {}, ...spec };
  return { id, createdAt: id, removed: false, spec: given } as unknown as TaskState;
}

function queue(change: Partial<TaskQueue>): TaskQueue {
  return { busy: [], waiting: 0, queued: [], maxRunning: 2, ...change };
}

it.each<[string, TaskState, Partial<TaskQueue>, string | undefined]>([
  ["no limit is reached", task("1"), { busy: [task("0")] }, undefined],
  [
    "all slots are taken",
    task("9"),
    { busy: [task("1"), task("2")], waiting: 2, queued: [task("9"), task("8"), task("7")] },
    "2 of at most 2 tasks run, 2 of them wait for an answer; 2 queued before it (limit: defaults.max_running)",
  ],
  [
    "a higher priority goes first",
    task("9", { priority: 5 }),
    { busy: [task("1"), task("2")], waiting: 1, queued: [task("9"), task("8")] },
    "2 of at most 2 tasks run, 1 of them waits for an answer; it is next (limit: defaults.max_running)",
  ],
  [
    "the repository is full",
    task("9", { limits: { ...LIMITS, repository: 1 } }),
    { busy: [task("1"), task("2", { repository: "/other" })], maxRunning: 4 },
    "1 of at most 1 tasks of this repository run; it is next (limit: limits.per_repository)",
  ],
  [
    "the agent is busy",
    task("9", { limits: { ...LIMITS, agent: 1 } }),
    { busy: [task("1")], maxRunning: 4 },
    "1 of at most 1 tasks of agent robin run; it is next (limit: agents.robin.max_running)",
  ],
  [
    "the provider is busy",
    task("9", { limits: { ...LIMITS, provider: 1 } }),
    { busy: [task("1")], maxRunning: 4 },
    "1 of at most 1 tasks of provider p run; it is next (limit: limits.providers.p)",
  ],
])("says why a task is queued: %s", (_, state, change, reason) => {
  expect(formatQueueLimit(state, queue(change))).toBe(reason);
});
