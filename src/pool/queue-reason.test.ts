import { expect, it } from "vitest";
import type { StoredWorker, TaskState } from "../domain/index.ts";
import { formatWaitReason, type TaskQueue } from "./queue-reason.ts";

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
    "2 tasks are running and the limit is 2 (defaults.max_running); 2 of them wait for an answer; 2 are queued before it",
  ],
  [
    "a higher priority goes first",
    task("9", { priority: 5 }),
    { busy: [task("1"), task("2")], waiting: 1, queued: [task("9"), task("8")] },
    "2 tasks are running and the limit is 2 (defaults.max_running); 1 of them waits for an answer; it is next",
  ],
  [
    "the repository is full",
    task("9", { limits: { ...LIMITS, repository: 1 } }),
    { busy: [task("1"), task("2", { repository: "/other" })], maxRunning: 4 },
    "1 task of this repository is running and the limit is 1 (limits.per_repository); it is next",
  ],
  [
    "the agent is busy",
    task("9", { limits: { ...LIMITS, agent: 1 } }),
    { busy: [task("1")], maxRunning: 4 },
    "1 task of agent robin is running and the limit is 1 (agents.robin.max_running); it is next",
  ],
  [
    "the provider is busy",
    task("9", { limits: { ...LIMITS, provider: 1 } }),
    { busy: [task("1")], maxRunning: 4 },
    "1 task of provider p is running and the limit is 1 (limits.providers.p); it is next",
  ],
])("says why a task is queued: %s", (_, state, change, reason) => {
  expect(formatWaitReason(state, queue(change))).toBe(reason);
});

function worker(host: string, more: Partial<StoredWorker> = {}): StoredWorker {
  const abilities = { labels: [], agents: ["robin"], unreadyAgents: ["wren"], onlyAgents: false, mirrors: true };
  return { host, owner: host, maxRunning: 4, ...abilities, ...more } as unknown as StoredWorker;
}

it.each<[string, Partial<TaskState["spec"]>, readonly StoredWorker[], string | undefined]>([
  ["a worker can run it", { host: "a" }, [worker("b"), worker("a")], undefined],
  ["nothing is known about an agent of the repository", { agent: "own" }, [worker("a")], undefined],
  [
    "every worker that can run it is full",
    {},
    [worker("a", { maxRunning: 1, owner: "a.1" }), worker("b", { agents: [], onlyAgents: true })],
    "every worker that can run it is full (worker.max_running, host.max_running): a 1/1",
  ],
  ["another worker has a place", {}, [worker("a", { maxRunning: 1, owner: "a.1" }), worker("b")], undefined],
  ["no worker runs", {}, [], "no worker is running: start one with rookery worker"],
  ["no worker has the agent", { agent: "wren" }, [worker("a"), worker("b")], "no worker has agent wren"],
  [
    "a later stage has an agent that no worker has",
    { stages: [{ kind: "agent", name: "review", agent: "wren", tries: 1 }] },
    [worker("a")],
    "no worker has agent wren",
  ],
  [
    "the only workers take other agents",
    { agent: "own" },
    [worker("a", { onlyAgents: true })],
    "no worker has agent own",
  ],
  ["no worker has the label", { labels: ["gpu"] }, [worker("a", { labels: ["big"] })], "no worker has the label gpu"],
  [
    "its repository is on a host without a worker",
    { host: "a" },
    [worker("b")],
    "waits for host a, which has its repository; no worker runs there",
  ],
  ["its repository has a remote", { host: "a", remote: "x" }, [worker("b")], undefined],
  [
    "its repository has a remote, but hosts take only their own",
    { host: "a", remote: "x" },
    [worker("b", { mirrors: false })],
    "waits for host a, which has its repository; no worker runs there",
  ],
  [
    "its own host lacks the agent",
    { host: "a", agent: "wren" },
    [worker("a"), worker("b")],
    "no worker has agent wren",
  ],
])("says why no worker takes a task: %s", (_, spec, workers, reason) => {
  const busy = [{ ...task("0"), owner: "a.1/task-1" }];
  expect(formatWaitReason(task("1", { stages: [], ...spec }), queue({ workers, busy }))).toBe(reason);
});
