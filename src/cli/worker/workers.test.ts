import { expect, it } from "vitest";
import type { WorkerView } from "../../domain/worker-view.ts";
import { formatAskedWorker, formatWorkerTable } from "./workers.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");

function worker(id: string, more: Partial<WorkerView> = {}): WorkerView {
  return {
    ...{ id, host: "build-1", kind: "worker", status: "ready", version: "0.1.0", pid: 1, labels: [], agents: [] },
    ...{ startedAt: "2026-11-18T11:00:00Z", heartbeatAt: "2026-11-18T11:59:58Z", unreadyAgents: [], running: [] },
    ...{ maxRunning: 4, free: 4, sessions: 0 },
    ...more,
  };
}

it("lists of each worker what it runs, its places, when it was last seen, its ready agents and its labels", () => {
  const running = ["fix", "docs"].map((id) => ({ id, agent: "claude", title: id }));
  const workers = [
    worker("wrk_1", { running, free: 2, agents: ["claude", "codex"], labels: ["gpu"], sessions: 1 }),
    worker("wrk_2", { host: "build-2", status: "lost", heartbeatAt: "2026-11-18T11:15:00Z", free: 0 }),
    worker("wrk_3", { kind: "serve", maxRunning: 0, free: 0, agents: ["claude"] }),
  ];
  expect(
    formatWorkerTable(workers, NOW, undefined)
      .split("\n")
      .map((line) => line.split(/  +/)),
  ).toEqual([
    ["worker", "host", "state", "tasks", "version", "seen", "agents, labels and tasks"],
    [
      ...["wrk_1", "build-1", "ready", "2/4", "0.1.0", "just now"],
      "agents claude, codex; labels gpu; runs fix, docs; drives 1 session",
    ],
    ["wrk_2", "build-2", "lost", "0/4", "0.1.0", "45m ago", "no agent is ready"],
    ["wrk_3", "build-1", "ready", "no tasks", "0.1.0", "just now", "serves HTTP; agents claude"],
    [""],
  ]);
});

it("says that a drained worker ends and a drained server keeps answering requests", () => {
  const running = [{ id: "t1", agent: "shell", title: "one" }];
  const worker = { id: "wrk_1", host: "build-1", kind: "worker" as const, running };
  const server = { id: "wrk_2", host: "build-1", kind: "serve" as const, running: [] };
  expect([worker, server].map((asked) => formatAskedWorker(asked, "drain"))).toEqual([
    "worker wrk_1 on host build-1 finishes 1 running task, takes no more, and ends",
    "server wrk_2 on host build-1 finishes 0 running tasks, takes no more, and keeps answering requests",
  ]);
  expect([worker, server].map((asked) => formatAskedWorker(asked, "stop"))).toEqual([
    "worker wrk_1 on host build-1 hands over 1 running task and ends",
    "server wrk_2 on host build-1 hands over 0 running tasks and ends",
  ]);
});
