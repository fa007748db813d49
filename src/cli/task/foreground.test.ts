import { beforeEach, describe, expect, it, vi } from "vitest";
import { deferred } from "../../stdx/deferred.ts";
import type { TaskEventBody } from "../../domain/task/events.ts";
import type { TaskView } from "../../domain/task/view.ts";
import { EXIT } from "../exit.ts";
import { collectingIo } from "../test-io.ts";
import { startTaskCommand } from "./start.ts";
import { taskView, createTestTaskService, type TestTaskService } from "./test-service.ts";

const TREE = { path: "/w/a", branch: "rookery/a", base: "main", baseCommit: "0123456789", removed: false };
const { removed: _, ...MADE_AS } = TREE;
const MADE: TaskEventBody = { type: "worktree.made", ...MADE_AS, anew: true };

let io: ReturnType<typeof collectingIo>;
let service: TestTaskService;
let answered: unknown[];
beforeEach(() => {
  io = collectingIo("/somewhere");
  answered = [];
});

/** Creates a task service that runs tasks with `run`. */
function doorThat(run: (id: string, signal: AbortSignal) => Promise<void>, view: Partial<TaskView> = {}): void {
  service = createTestTaskService([], {
    start: async () => {
      service.views = [taskView({ id: "a", ...view }), taskView({ id: "b" })];
      service.emit("a", { type: "task.started", run: 1, owner: "me" });
      return taskView({ id: "a", ...view });
    },
    stop: async (id) => {
      service.change(id, { status: "stopped", worktree: TREE });
      return taskView({ id, status: "stopped", worktree: TREE });
    },
    answer: async (...given) => {
      answered.push(given);
    },
    runner: {
      run,
      hasWorkers: async () => false,
      isAbandoned: async () => false,
      lastEventAt: async () => undefined,
    },
  });
}

const start = (options = {}) => startTaskCommand({ io, args: ["Do it"], options }, service);

describe("a task in the foreground", () => {
  it("prints the events of the task and its agent, and the outcome", async () => {
    doorThat(
      async (id) => {
        const sessionId = "ses_1";
        service.emit(id, MADE);
        service.emit(id, { type: "output.text", from: "setup", text: "installed\u001b[2J 3 packages\n" });
        service.emit(id, { type: "stage.started", stage: 0, name: "coder", attempt: 1, sessionId });
        service.emit(id, { type: "turn.started", sessionId, turnId: "t", input: [{ type: "text", text: "Do it" }] });
        service.emit(id, { type: "message.delta", sessionId, messageId: "m", text: "Working" });
        service.emit(id, {
          type: "stage.ended",
          stage: 0,
          name: "coder",
          passed: false,
          message: "tests fail",
          backTo: 0,
        });
        service.emit(id, { type: "task.ended", outcome: "done" });
        service.change(id, { status: "done", ranMs: 5_000 });
      },
      { stages: ["coder", "check"] },
    );
    expect(await start()).toBe(EXIT.done);
    expect(io.text().split("\n")).toEqual([
      "task a in /repo with claude; Ctrl-C stops it",
      "worktree /w/a on rookery/a, from main (012345678)",
      "installed[2J 3 packages",
      "▸ coder in 1",
      "Working",
      "✗ coder failed: tests fail; returns to coder",
      "task a is done · 5.0s",
      "  rookery task diff a    show its changes",
      "  rookery task merge a   merge it into its base branch",
      "",
    ]);
  });

  it("prints only one line of JSON per event with --json", async () => {
    doorThat(async (id) => {
      service.emit(id, MADE);
      service.change(id, { status: "done" });
    });
    expect(await start({ json: true })).toBe(EXIT.done);
    const lines = io.text().trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { position: 1, type: "task.started" },
      { position: 2, type: "worktree.made" },
    ]);
  });

  it("exits with 1 after a failure, with the reason and the worktree", async () => {
    doorThat(async (id) => service.change(id, { status: "failed", message: "no luck", worktree: TREE }));
    expect(await start()).toBe(EXIT.failed);
    expect(io.text()).toContain(
      "rookery: task a failed: no luck; worktree kept: /w/a; continue it with: rookery task resume a\n",
    );
  });

  it("prints that a task waits for others, and how to run it", async () => {
    doorThat(() => Promise.reject(new Error("it is not to be run")), { needs: ["b"] });
    expect(await start()).toBe(EXIT.done);
    expect(io.text()).toContain("task a is queued and waits for b; start a server to run it: rookery serve\n");
  });

  it("prints how to answer a request without a terminal", async () => {
    doorThat(async (id) => {
      service.emit(id, {
        type: "permission.requested",
        sessionId: "ses_1",
        requestId: "r1",
        toolId: "t",
        tool: "bash",
        title: "x",
        kind: "execute",
        input: { command: "make" },
      });
      await vi.waitFor(() => expect(io.text()).toContain("rookery answer 1 r1 allow"));
      service.change(id, { status: "done" });
    });
    expect(await start()).toBe(EXIT.done);
    expect(io.text()).toContain("waiting for a decision on bash:\n  command: make\n");
  });

  it.each(["SIGINT", "SIGTERM"] as const)("stops the task at %s and prints where its worktree is", async (signal) => {
    const started = deferred<undefined>();
    doorThat(async (_, ended) => {
      started.resolve(undefined);
      await new Promise<void>((resolve) => ended.addEventListener("abort", () => resolve()));
    });
    const running = start();
    await started.promise;
    process.emit(signal);
    expect(await running).toBe(EXIT.cancelled);
    expect(service.calls).toContainEqual(["stop", "a", { reason: "interrupted" }]);
    expect(io.text()).toContain(
      "rookery: task a was stopped; worktree kept: /w/a; continue it with: rookery task resume a\n",
    );
  });

  it("rejects with the error of the run after printing the log", async () => {
    doorThat(async (id) => {
      service.emit(id, MADE);
      throw new Error("the disk is on fire");
    });
    await expect(start()).rejects.toThrow("the disk is on fire");
    expect(io.text()).toContain("worktree /w/a");
  });
});
