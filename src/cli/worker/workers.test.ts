import { expect, it } from "vitest";
import { formatAskedWorker } from "./workers.ts";

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
