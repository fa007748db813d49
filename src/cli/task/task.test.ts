import { beforeEach, describe, expect, it, vi } from "vitest";
import { RookeryError } from "../../domain/errors.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import type { TaskStatus } from "../../domain/enums.ts";
import type { MergeReport, TaskDiff, Tasks } from "../../domain/task/view.ts";
import type { CommandCall, OptionValues } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import type { Io } from "../io.ts";
import { collectingIo } from "../test-io.ts";
import { taskDiffCommand } from "./diff.ts";
import type { TaskService, TaskRunner } from "./service.ts";
import { findTask } from "./find.ts";
import { collectTasksCommand } from "./gc.ts";
import { listTasksCommand } from "./list.ts";
import { taskLogsCommand } from "./logs.ts";
import { mergeTaskCommand } from "./merge.ts";
import { formatNextCommands } from "./next-commands.ts";
import { removeTaskCommand } from "./remove.ts";
import { resumeTaskCommand } from "./resume.ts";
import { showTaskCommand } from "./show.ts";
import { startTaskCommand } from "./start.ts";
import { stopTaskCommand } from "./stop.ts";
import { taskView, terminalIo, createTestTaskService, type TestTaskService } from "./test-service.ts";

type Work = (call: CommandCall, service: TaskService) => Promise<ExitCode>;

let io: Io & { text(): string };
let service: TestTaskService;
beforeEach(() => {
  io = collectingIo("/somewhere");
});

async function shown(
  work: Work,
  args: readonly string[] = [],
  options: OptionValues = {},
): Promise<[ExitCode, string]> {
  const before = io.text().length;
  const code = await work({ io, args, options }, service);
  return [code, io.text().slice(before)];
}

/** `abandoned`: ids of tasks whose process is gone. */
function runnerWith({
  abandoned = [] as readonly string[],
  run = (_id: string) => Promise.resolve(),
  hasWorkers = false,
}): TaskRunner {
  return {
    run,
    hasWorkers: async () => hasWorkers,
    isAbandoned: async (id) => abandoned.includes(id),
    lastEventAt: async () => undefined,
  };
}

const lines = (text: string) => text.trimEnd().split("\n");
const TREE = { path: "/repo/.rookery/worktrees/a", branch: "rookery/a", base: "main", baseCommit: "0123456789abcdef" };

const HERE = { cwd: () => "/repo/src" };

describe("findTask", () => {
  beforeEach(() => {
    service = createTestTaskService(["fix-b", "fix-a", "docs", "fix"].map((id) => taskView({ id })));
  });

  it.each([
    ["docs", "docs"],
    ["d", "docs"],
    ["fix-a", "fix-a"],
    ["fix", "fix"],
    ["last", "fix-b"],
  ])("resolves %s to %s", async (named, id) => {
    expect(await findTask(service.tasks, named, HERE)).toMatchObject({ id });
  });

  it.each([
    ["fix-", "usage", "2 tasks start with fix-: fix-b, fix-a; type more characters of the id"],
    ["nothing", "task_not_found", "no task nothing; list all tasks: rookery task list --all"],
    ["../../etc", "task_not_found", "no task ../../etc; "],
    ["", "task_not_found", 'no task ""; '],
  ])("rejects %j", async (named, code, message) => {
    await expect(findTask(service.tasks, named, HERE)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it("finds a task on a later page by a prefix", async () => {
    service.views = [
      ...Array.from({ length: 450 }, (_, index) => taskView({ id: `t${index}` })),
      taskView({ id: "old" }),
    ];
    expect(await findTask(service.tasks, "ol", HERE)).toMatchObject({ id: "old" });
  });

  it("resolves last to the newest task of this repository", async () => {
    const list: Tasks["list"] = async ({ cwd } = {}) =>
      cwd === HERE.cwd() ? [] : [taskView({ id: "other", repository: "/elsewhere" })];
    await expect(findTask(createTestTaskService([], { list }).tasks, "last", HERE)).rejects.toMatchObject({
      code: "task_not_found",
      message: "/repo/src has no task in its repository; the newest elsewhere is other in /elsewhere",
    });
    const outside: Tasks["list"] = async (query = {}) => {
      if (query.cwd !== undefined) throw new RookeryError("repository_missing", "no repository");
      return list(query);
    };
    await expect(findTask(createTestTaskService([], { list: outside }).tasks, "last", HERE)).rejects.toThrow(
      "newest elsewhere is other",
    );
  });

  it("suggests a command if there is no last task", async () => {
    service.views = [];
    await expect(findTask(service.tasks, "last", HERE)).rejects.toThrow('start one: rookery task start "PROMPT"');
  });
});

describe("list", () => {
  it("prints tasks as a table", async () => {
    service = createTestTaskService([
      taskView({
        id: "a",
        status: "waiting",
        startedAt: "x",
        ranMs: 5_000,
        stage: "coder",
        stages: ["coder", "check"],
      }),
      taskView({
        id: "b",
        status: "failed",
        startedAt: "x",
        ranMs: 65_000,
        message: "no luck\u001b[2J",
        agent: "codex",
      }),
      taskView({ id: "c", needs: ["a", "b"] }),
      taskView({
        id: "d",
        status: "running",
        startedAt: "x",
        ranMs: 7_300_000,
        usage: { ...NO_USAGE, inputTokens: 12_000, outputTokens: 345, costUsd: 1.5, costBy: "computed" },
        lastLine: "bash: npm\ttest",
      }),
    ]);
    const [code, text] = await shown(listTasksCommand);
    expect(code).toBe(EXIT.done);
    expect(lines(text)).toEqual([
      "task  state    agent   stage  time   tokens  cost    last",
      "a     waiting  claude  coder  5s                     needs an answer: rookery task show a",
      "d     running  claude         2h 1m  12.3k   ~$1.50  bash: npm test",
      "c     queued   claude                                after a, b",
      "b     failed   codex          1m 5s                  no luck[2J",
    ]);
  });

  it("never truncates ids, and omits empty columns", async () => {
    const id = "add-pagination-to-the-list-of-us-0a87";
    service = createTestTaskService([
      taskView({ id, stage: "work", startedAt: "x", status: "running", lastLine: "reading" }),
      taskView({
        id: "b",
        status: "done",
        startedAt: "x",
        merge: { how: "merge", into: "main", outcome: "conflicts", conflicts: ["x.ts", "y.ts"] },
      }),
      taskView({
        id: "c",
        status: "done",
        startedAt: "x",
        merge: { how: "merge", into: "main", outcome: "gate_failed" },
      }),
    ]);
    expect(lines((await shown(listTasksCommand))[1])).toEqual([
      "task                                   state    agent   time  last",
      `${id}  running  claude  0s    reading`,
      "b                                      done     claude  0s    conflicts with main: x.ts, y.ts",
      "c                                      done     claude  0s    not merged into main: the gate failed",
    ]);
  });

  it("filters tasks, and prints them as JSON", async () => {
    service = createTestTaskService([taskView({ id: "a", status: "done" }), taskView({ id: "b", agent: "codex" })]);
    expect(
      lines((await shown(listTasksCommand, [], { status: "done", json: true }))[1]).map(
        (line) => JSON.parse(line) as unknown,
      ),
    ).toEqual([expect.objectContaining({ id: "a", status: "done" })]);
    expect((await shown(listTasksCommand, [], { agent: "codex" }))[1]).toMatch(/^task[^]*\nb /);
    expect((await shown(listTasksCommand, [], { agent: "none" }))[1]).toContain("no such tasks; start one");
  });

  it("lists running tasks before newer queued ones, and everything with --all", async () => {
    const many = Array.from({ length: 300 }, (_, index) => taskView({ id: `q${index}` }));
    service = createTestTaskService([...many, taskView({ id: "busy", status: "running" })]);
    const some = lines((await shown(listTasksCommand))[1]);
    expect(some).toHaveLength(22);
    expect(some.at(-1)).toBe("… older tasks are not shown; show all: rookery task list --all");
    expect(some[1]).toMatch(/^busy /);
    expect(lines((await shown(listTasksCommand, [], { all: true }))[1])).toHaveLength(302);
  });

  it("marks tasks of dead processes as interrupted, and prints how to continue them", async () => {
    const views = [taskView({ id: "a", status: "running" }), taskView({ id: "b", status: "waiting" })];
    service = createTestTaskService([...views, taskView({ id: "c" })], { runner: runnerWith({ abandoned: ["a"] }) });
    expect(lines((await shown(listTasksCommand))[1])).toEqual([
      "task  state        agent   last",
      "b     waiting      claude  needs an answer: rookery task show b",
      "a     interrupted  claude  its process is gone; continue it with: rookery task resume a",
      "c     queued       claude",
    ]);
    expect((await shown(showTaskCommand, ["a"]))[1]).toMatch(
      /^status +interrupted \(was running\); continue it with: rookery task resume a$/m,
    );
    expect((await shown(showTaskCommand, ["b"]))[1]).toMatch(/^status +waiting for an answer$/m);
    expect((await shown(showTaskCommand, ["c"]))[1]).toMatch(/^ {2}rookery task resume c +continue it$/m);
    service = createTestTaskService([taskView({ id: "c" })], { server: "http://127.0.0.1:1" });
    expect((await shown(showTaskCommand, ["c"]))[1]).not.toContain("task resume");
  });

  it("suggests a command if there are no tasks", async () => {
    service = createTestTaskService();
    expect(await shown(listTasksCommand)).toEqual([EXIT.done, 'no tasks; start one: rookery task start "PROMPT"\n']);
  });
});

describe("show, logs and diff without a task", () => {
  /** Tasks of `/repo`, which a directory elsewhere does not list. */
  const tasksIn = (cwd: string, ...ids: string[]): TestTaskService => {
    io = collectingIo(cwd);
    const views = ids.map((id) => taskView({ id }));
    return createTestTaskService(views, {
      list: async ({ cwd: asked, limit } = {}) =>
        asked === undefined || asked.startsWith("/repo") ? views.slice(0, limit) : [],
      diff: async () => ({
        base: "main",
        files: [],
        additions: 0,
        deletions: 0,
        commits: [],
        uncommitted: false,
        patch: "the patch\n",
        truncated: false,
      }),
    });
  };

  it("show the newest task of this repository, or the only one elsewhere", async () => {
    service = tasksIn("/repo", "newer", "older");
    expect((await shown(showTaskCommand, []))[1]).toContain("newer");
    expect((await shown(taskDiffCommand, []))[1]).toBe("the patch\n");
    expect(service.calls.at(-1)).toEqual(["diff", "newer", { patch: true }]);
    expect((await shown(taskLogsCommand, []))[0]).toBe(EXIT.done);
    service = tasksIn("/elsewhere", "only");
    expect((await shown(showTaskCommand, []))[1]).toContain("only");
  });

  it("list candidates with the command if none is meant", async () => {
    service = tasksIn("/elsewhere", "a", "b", "c");
    await expect(shown(showTaskCommand, [])).rejects.toMatchObject({
      code: "usage",
      message: "this directory has no task in its repository; name one: rookery task show a (or b, c)",
    });
    service = tasksIn("/elsewhere");
    await expect(shown(showTaskCommand, [])).rejects.toThrow('start one: rookery task start "PROMPT"');
  });
});

describe("show", () => {
  it("prints all details of a task", async () => {
    service = createTestTaskService([
      taskView({
        id: "a",
        status: "failed",
        message: "it broke",
        code: "stage_failed",
        needs: ["b"],
        stages: ["coder", "check"],
        stage: "check",
        sessions: [{ id: "ses_1", stage: "coder" }],
        worktree: { ...TREE, port: 4000, removed: false },
        merge: {
          how: "merge",
          into: "main",
          outcome: "conflicts",
          conflicts: ["x.ts", "y.ts"],
          message: "both sides changed x.ts",
        },
      }),
    ]);
    const text = (await shown(showTaskCommand, ["a"]))[1];
    for (const line of [
      /^status +failed: it broke \(stage_failed\)$/m,
      /^stage +check \(of coder → check\)$/m,
      /^worktree +\/repo\/\.rookery\/worktrees\/a$/m,
      /^branch +rookery\/a, from main \(012345678\)$/m,
      /^needs +b$/m,
      /^session +1 \(coder\)$/m,
      /^merge +merge into main: conflicts$/m,
      /^conflicts +x\.ts, y\.ts$/m,
      /^ {2}rookery task diff a {5}show its changes$/m,
      /^ {2}rookery task remove a {3}delete it with its worktree and branch$/m,
    ]) {
      expect(text).toMatch(line);
    }
    expect(text.match(/x\.ts/g)).toHaveLength(1);
    expect(text).not.toMatch(/^port/m); // the port is released when the task ends
    expect(JSON.parse((await shown(showTaskCommand, ["a"], { json: true }))[1])).toEqual(service.views[0]);
    service.change("a", { status: "running" });
    expect((await shown(showTaskCommand, ["a"]))[1]).toMatch(/^port +4000$/m);
  });

  it("prints open requests completely, with the command that answers them", async () => {
    const sessionId = "ses_1";
    service = createTestTaskService([
      taskView({ id: "a", status: "waiting", waitingFor: [{ sessionId, requestId: "r2" }] }),
    ]);
    const asked = { type: "permission.requested", toolId: "t", tool: "bash", title: "x", kind: "execute" } as const;
    service.emit("a", { ...asked, sessionId, requestId: "r1", input: { command: "first" } });
    service.emit("a", { ...asked, sessionId, requestId: "r2", input: { command: "echo a\nrm b" } });
    const text = (await shown(showTaskCommand, ["a"]))[1];
    expect(text).toContain(
      "\nwaiting for a decision on bash:\n  command (2 lines):\n  │ echo a\n  │ rm b\nanswer with: rookery answer a r2 allow\n",
    );
    expect(text).not.toContain("first");
    expect(text).toMatch(/^status +waiting for an answer$/m);
    expect(text).not.toMatch(/^last/m);
  });

  it("prints the reason why a task is queued once", async () => {
    service = createTestTaskService([taskView({ id: "a", message: "needs b, which is failed" })]);
    expect((await shown(showTaskCommand, ["a"]))[1].match(/needs b, which is failed/g)).toHaveLength(1);
  });
});

describe("logs", () => {
  beforeEach(() => {
    service = createTestTaskService([taskView({ id: "a", status: "running" })]);
    service.emit("a", { type: "task.started", run: 2, owner: "o" });
    service.emit("b", { type: "task.started", run: 1, owner: "o" });
    service.emit("a", { type: "stage.started", stage: 0, name: "coder", attempt: 1, sessionId: "ses_1" });
    service.emit("a", { type: "message.completed", sessionId: "ses_1", messageId: "m", text: "hi" });
    service.emit("a", { type: "agent.raw", sessionId: "ses_1", data: { x: 1 } });
    service.emit("a", { type: "output.text", from: "setup", text: "made\u001b[31m it\n" });
  });

  it("prints a transcript of the task and its sessions", async () => {
    service.emit("a", { type: "message.delta", sessionId: "ses_1", messageId: "m2", text: "bye" });
    service.emit("a", { type: "message.delta", sessionId: "ses_1", messageId: "m2", text: " now" });
    service.emit("a", { type: "message.completed", sessionId: "ses_1", messageId: "m2", text: "bye now" });
    service.emit("a", { type: "task.ended", outcome: "failed", message: "too bad" });
    expect((await shown(taskLogsCommand, ["a"]))[1]).toBe("hi\nmade[31m it\nbye now\n✗ task failed: too bad\n");
  });

  it("prints events of the task and its sessions in order, with the positions that --after takes", async () => {
    const text = (await shown(taskLogsCommand, ["a"], { events: true }))[1];
    expect(lines(text).map((line) => line.replace(/[\d-]+ \d\d:\d\d:\d\d/, "TIME").replaceAll(/ +/g, " "))).toEqual([
      " 1 TIME task.started run 2",
      " 3 TIME stage.started coder in 1",
      " 4 TIME message.completed hi",
      " 6 TIME output.text setup: made[31m it",
    ]);
    expect(lines((await shown(taskLogsCommand, ["a"], { events: true, after: "3", all: true }))[1])).toHaveLength(3);
    const [first] = lines((await shown(taskLogsCommand, ["a"], { json: true }))[1]);
    expect(JSON.parse(first ?? "")).toMatchObject({ position: 1, type: "task.started", taskId: "a" });
    await expect(shown(taskLogsCommand, ["a"], { after: "x" })).rejects.toThrow("--after must be a whole number");
    await expect(shown(taskLogsCommand, ["a"], { after: "7" })).rejects.toThrow(
      "--after 7 is past the end of the log (6)",
    );
  });

  const asks = (requestId: string) => {
    const input = { command: "make" };
    const body = { type: "permission.requested", toolId: "t", tool: "bash", title: "x", kind: "execute" } as const;
    const waitingFor = [{ sessionId: "ses_1", requestId }];
    service.change("a", { status: "waiting", waitingFor });
    service.emit("a", { ...body, sessionId: "ses_1", requestId, input });
  };
  const WAITS = "waiting for a decision on bash:\n  command: make\nanswer with: rookery answer a";

  it("shows a request that waits, also one that is asked while it follows", async () => {
    asks("r1");
    expect((await shown(taskLogsCommand, ["a"]))[1]).toMatch(new RegExp(`made\\[31m it\\n${WAITS} r1 allow\\n`));
    const following = shown(taskLogsCommand, ["a"], { follow: true });
    await vi.waitFor(() => expect(service.followers).toBe(1));
    asks("r2");
    await vi.waitFor(() => expect(io.text()).toContain(`${WAITS} r2 allow`));
    service.change("a", { status: "stopped", waitingFor: [] });
    service.emit("a", { type: "task.ended", outcome: "stopped" });
    const [, text] = await following;
    expect(text.split("waiting for a decision")).toHaveLength(3);
  });

  it("follows the log until the task has ended, including its last events", async () => {
    const following = shown(taskLogsCommand, ["a"], { follow: true });
    await vi.waitFor(() => expect(service.followers).toBe(1));
    service.emit("a", { type: "task.ended", outcome: "failed", message: "too bad" });
    service.emit("b", { type: "task.ended", outcome: "done" });
    service.emit("a", { type: "notice", level: "info", code: "x", message: "the very last" });
    service.change("a", { status: "failed" });
    const [code, text] = await following;
    expect(code).toBe(EXIT.done);
    expect(text).toContain("failed: too bad");
    expect(lines(text).at(-1)).toBe("the very last");
    expect((await shown(taskLogsCommand, ["a"], { follow: true }))[1]).toContain("too bad");
  });
});

it("ends with the last message of the agent", async () => {
  const sessions = [
    { id: "ses_1", stage: "coder" },
    { id: "ses_2", stage: "check" },
  ];
  service = createTestTaskService([taskView({ id: "a", status: "done", sessions })]);
  service.emit("a", { type: "message.completed", sessionId: "ses_1", messageId: "m", text: "first" });
  service.emit("a", { type: "message.completed", sessionId: "ses_1", messageId: "m2", text: "All\u001b[1m\ndone.\n" });
  expect((await shown(showTaskCommand, ["a"]))[1]).toMatch(
    / {2}rookery task remove a[^]*\n\nthe last message of the agent:\nAll\[1m\ndone\.\n$/,
  );
  service.emit("a", { type: "message.completed", sessionId: "ses_2", messageId: "m", text: "Checked." });
  expect((await shown(showTaskCommand, ["a"]))[1]).toMatch(/the last message of the agent:\nChecked\.\n$/);
});

describe("logs of a task that no process runs", () => {
  it.each<[TaskStatus, string]>([
    ["queued", "rookery: no process runs task a now; continue it with: rookery task resume a, or rookery serve\n"],
    ["running", "rookery: no process runs task a now; continue it with: rookery task resume a, or rookery serve\n"],
  ])("prints a notice for a %s task and follows it", async (status, words) => {
    service = createTestTaskService([taskView({ id: "a", status })], { runner: runnerWith({ abandoned: ["a"] }) });
    const following = shown(taskLogsCommand, ["a"], { follow: true });
    await vi.waitFor(() => expect(service.followers).toBe(1));
    expect(io.text()).toBe(words);
    service.change("a", { status: "stopped" });
    service.emit("a", { type: "task.ended", outcome: "stopped" });
    expect((await following)[0]).toBe(EXIT.done);
  });
});

describe("start", () => {
  const given = taskView({ id: "add-it" });
  const start = async () => given;

  it("queues the task on a server and returns immediately with the next commands", async () => {
    const others = ["newest", "a", "b", "longer-than-typed"].map((id) => taskView({ id }));
    service = createTestTaskService(others, { start, server: "http://127.0.0.1:7433" });
    const options: OptionValues = {
      id: "add-it",
      priority: "-5",
      needs: ["a", "b,long", "last"],
      retries: "2",
      budget: "5usd,200ktokens,30m",
      permissions: "all",
      cwd: "sub",
    };
    const [code, text] = await shown(startTaskCommand, ["Add it"], options);
    expect(code).toBe(EXIT.done);
    expect(service.calls).toEqual([
      [
        "start",
        expect.objectContaining({
          prompt: "Add it",
          id: "add-it",
          priority: -5,
          needs: ["a", "b", "longer-than-typed", "newest"],
          retries: 2,
          budget: { usd: 5, tokens: 200_000, seconds: 1_800 },
          permissions: "all",
          cwd: "/somewhere/sub",
        }),
      ],
    ]);
    expect(text).toContain(
      "task add-it is queued on the server at http://127.0.0.1:7433\nagent: claude\nworktree: a new worktree of /repo\n",
    );
    expect(text).toContain("rookery task logs add-it -f");
    expect(JSON.parse((await shown(startTaskCommand, ["x"], { json: true }))[1])).toMatchObject({ id: "add-it" });
  });

  it("notes how many uncommitted files are not in the worktree", async () => {
    const dirty = async () => ({ ...(await start()), uncommitted: 3 });
    service = createTestTaskService([], { start: dirty, server: "http://x" });
    expect((await shown(startTaskCommand, ["x"]))[1]).toMatch(
      /^rookery: 3 files with uncommitted changes are not in the task's worktree, .*; commit them first/,
    );
  });

  it("prints that a detached task waits for a server", async () => {
    service = createTestTaskService([], {
      start,
      runner: runnerWith({ run: () => Promise.reject(new Error("nobody asked")) }),
    });
    expect((await shown(startTaskCommand, ["x"], { detach: true }))[1]).toContain(
      "task add-it is queued; start a server to run it: rookery serve\n",
    );
  });

  it.each([
    [undefined, "task add-it is queued; a worker takes it\n"],
    ["no worker has the label gpu", "task add-it is queued: no worker has the label gpu\n"],
  ])("prints that a worker takes a detached task, or why none does: %s", async (message, line) => {
    const told = async () => ({ ...(await start()), ...(message !== undefined && { message }) });
    service = createTestTaskService([], { start: told, runner: runnerWith({ hasWorkers: true }) });
    expect((await shown(startTaskCommand, ["x"], { detach: true }))[1]).toContain(line);
  });

  it.each<[string, OptionValues, string]>([
    ["x", { id: "../x" }, '"../x" is not a task id: use at most 64 lowercase letters'],
    ["x", { id: "a".repeat(300) }, "is not a task id"],
    ["x", { id: "last" }, '"last" cannot be an id: it means the newest task'],
    ["x", { priority: "high" }, '--priority must be a whole number from -1000 to 1000, not "high"'],
    ["x", { retries: "-1" }, "--retries must be a whole number of at least 0"],
    ["x", { budget: "lots" }, '--budget must be positive amounts such as "5usd,200000tokens,30m"'],
    [" ", {}, 'the prompt is empty; type: rookery task start "PROMPT"'],
  ])("rejects %j with %j: %s", async (prompt, options, message) => {
    service = createTestTaskService([], { start });
    const refusal = shown(startTaskCommand, [prompt], options);
    await expect(refusal).rejects.toMatchObject({ code: "usage", message: expect.stringContaining(message) });
    expect(service.calls).toEqual([]);
  });

  it("rejects a needed task that does not exist", async () => {
    service = createTestTaskService([], { start });
    await expect(shown(startTaskCommand, ["x"], { needs: ["A B"] })).rejects.toMatchObject({
      code: "task_not_found",
      message: "no task A B; list all tasks: rookery task list --all",
    });
    expect(service.calls).toEqual([]);
  });
});

describe("stop, resume and remove", () => {
  const stopped = taskView({ id: "a", status: "stopped", worktree: { ...TREE, removed: false } });

  it("stop prints where the worktree is and how to continue", async () => {
    service = createTestTaskService([taskView({ id: "a", status: "running" })], { stop: async () => stopped });
    expect(await shown(stopTaskCommand, ["a"], { reason: "enough" })).toEqual([
      EXIT.done,
      "stopped a; worktree kept: /repo/.rookery/worktrees/a; continue it with: rookery task resume a\n",
    ]);
    expect(service.calls).toEqual([["stop", "a", { reason: "enough" }]]);
  });

  it("resume queues the task on the server with a prompt and a budget", async () => {
    service = createTestTaskService([stopped], {
      resume: async () => taskView({ ...stopped, status: "queued" }),
      server: "http://x",
    });
    const [code, text] = await shown(resumeTaskCommand, ["a", "go on"], { budget: "1h" });
    expect([code, text]).toEqual([EXIT.done, expect.stringContaining("worktree: /repo/.rookery/worktrees/a\n")]);
    expect(service.calls).toEqual([["resume", "a", { prompt: "go on", budget: { seconds: 3_600 } }]]);
    await expect(shown(resumeTaskCommand, ["a", " "])).rejects.toThrow("the prompt is empty");
  });

  it.each(["queued", "running"] as const)(
    "resume runs a %s task that no process runs in this process",
    async (status) => {
      const run = async (id: string) => service.change(id, { status: "done" });
      service = createTestTaskService([taskView({ id: "a", status })], {
        runner: runnerWith({ abandoned: ["a"], run }),
      });
      const [code, text] = await shown(resumeTaskCommand, ["a"]);
      expect([code, text]).toEqual([EXIT.done, expect.stringContaining("task a is done")]);
      expect(service.calls).toEqual([]); // it is already queued
    },
  );

  it("resume asks for a prompt if the task is done, and needs one without a terminal", async () => {
    const done = taskView({ id: "a", status: "done" });
    service = createTestTaskService([done], { resume: async () => taskView({ id: "a" }), server: "http://x" });
    const message = 'task a is done; say what the agent has to do next: rookery task resume a "PROMPT"';
    await expect(shown(resumeTaskCommand, ["a"])).rejects.toMatchObject({ code: "usage", message });
    expect(service.calls).toEqual([]);
    const io = terminalIo();
    Object.assign(io.stderr, { isTTY: true });
    const resuming = resumeTaskCommand({ io, args: ["a"], options: {} }, service);
    await vi.waitFor(() => expect(io.text()).toContain("What should the agent do next?"));
    io.terminalInput.write("Also the docs\n");
    expect(await resuming).toBe(EXIT.done);
    expect(service.calls).toEqual([["resume", "a", { prompt: "Also the docs", budget: undefined }]]);
    service = createTestTaskService([done]);
    expect((await shown(showTaskCommand, ["a"]))[1]).not.toContain("task resume");
  });

  it("resume rejects a task that another process runs", async () => {
    const resume = () => Promise.reject(new RookeryError("task_state", "it runs"));
    service = createTestTaskService([taskView({ id: "a", status: "running" })], { resume, runner: runnerWith({}) });
    await expect(shown(resumeTaskCommand, ["a"])).rejects.toMatchObject({ code: "task_state" });
  });

  it("remove prints the freed size, and refuses to lose work without --force", async () => {
    const remove = vi.fn(async (id: string, { force }: { force?: boolean | undefined } = {}) => {
      if (force !== true) throw new RookeryError("worktree_unmerged", "2 commits are not merged");
      return { id, freed: 12_345_678 };
    });
    service = createTestTaskService([stopped], { remove });
    await expect(shown(removeTaskCommand, ["a"])).rejects.toMatchObject({ code: "worktree_unmerged" });
    expect(await shown(removeTaskCommand, ["a"], { force: true })).toEqual([EXIT.done, "removed a; freed 12.3 MB\n"]);
  });
});

describe("diff", () => {
  const PATCH = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\u001b[2J\n";
  const diff: TaskDiff = {
    base: "main",
    files: [
      { path: "x", change: "modified", additions: 1, deletions: 1, binary: false },
      { path: "new\u001bname", from: "old", change: "renamed", binary: true },
    ],
    additions: 1,
    deletions: 1,
    commits: [{ commit: "c", subject: "s", author: "a", at: "t" }],
    uncommitted: true,
    patch: PATCH,
    truncated: false,
  };

  it("prints the exact patch of git to a pipe", async () => {
    service = createTestTaskService([taskView({ id: "a" })], { diff: async () => diff });
    expect(await shown(taskDiffCommand, ["a"])).toEqual([EXIT.done, PATCH]);
    expect(service.calls).toEqual([["diff", "a", { patch: true }]]);
    expect((await shown(taskDiffCommand, ["a"], { nameOnly: true }))[1]).toBe("x\nnew\u001bname\n");
    expect(JSON.parse((await shown(taskDiffCommand, ["a"], { json: true }))[1])).toEqual(diff);
  });

  it("shows line numbers, colors and no control characters on a terminal", async () => {
    io = terminalIo();
    service = createTestTaskService([taskView({ id: "a" })], {
      diff: async () => ({ ...diff, patch: PATCH.replace("-a", "--- a") }),
    });
    const text = (await shown(taskDiffCommand, ["a"]))[1];
    expect(text).toBe(
      "  \u001b[1mx\u001b[22m \u001b[32m+1\u001b[39m \u001b[31m-1\u001b[39m\n" +
        "  \u001b[2m1\u001b[22m \u001b[31m- -- a\u001b[39m\n" +
        "  \u001b[2m1\u001b[22m \u001b[32m+ b<U+001B>[2J\u001b[39m\n",
    );
  });

  it("prints a summary with --stat", async () => {
    service = createTestTaskService([taskView({ id: "a" })], { diff: async () => diff });
    expect(lines((await shown(taskDiffCommand, ["a"], { stat: true }))[1])).toEqual([
      "modified  x              +1      -1",
      "renamed   old → newname  binary",
      "2 files · +1 · -1 · 1 commit · includes uncommitted changes",
    ]);
    await expect(shown(taskDiffCommand, ["a"], { stat: true, json: true })).rejects.toThrow("choose one");
  });

  it("prints a notice if the diff is too large", async () => {
    service = createTestTaskService([taskView({ id: "a" })], { diff: async () => ({ ...diff, truncated: true }) });
    expect((await shown(taskDiffCommand, ["a"]))[1]).toContain(
      "rookery: the diff of a is too large to show completely",
    );
  });
});

describe("merge", () => {
  const report: MergeReport = {
    outcome: "merged",
    how: "merge",
    into: "main",
    dryRun: false,
    conflicts: [],
    commits: 2,
  };
  const merging = (change: Partial<MergeReport>) => {
    const merged = async () => ({ ...report, ...change });
    service = createTestTaskService([taskView({ id: "a" })], { merge: merged, predictMerge: merged });
  };

  it.each([60, 80, 120, 200])("wraps its result at words for %i columns, and keeps commands whole", async (columns) => {
    Object.assign(io.stdout, { isTTY: true, columns });
    merging({ outcome: "conflicts", conflicts: ["a.txt"], dryRun: true });
    const [, text] = await shown(mergeTaskCommand, ["a"]);
    const command = 'rookery task resume a "Merge main into your branch and resolve the conflicts"';
    expect(text).toContain(command);
    expect(text.replaceAll(/\n +/g, " ")).toContain("a would conflict with main in 1 file; nothing was changed:");
    for (const line of lines(text))
      if (!line.includes("rookery task")) expect(line.length).toBeLessThanOrEqual(columns);
    expect(formatNextCommands("a-rather-long-task-name", ["remove"], columns)).toBe(
      columns < 90
        ? "  rookery task remove a-rather-long-task-name\n      delete it with its worktree and branch\n"
        : "  rookery task remove a-rather-long-task-name   delete it with its worktree and branch\n",
    );
  });

  it("says that a task was merged before in a dry run", async () => {
    const merge = { how: "merge", into: "main", outcome: "merged", commit: "0123456789abcd" } as const;
    const predicted = async () => ({ ...report, outcome: "nothing" as const, commits: 0, dryRun: true });
    service = createTestTaskService([taskView({ id: "a", status: "done", merge })], { predictMerge: predicted });
    expect((await shown(mergeTaskCommand, ["a"], { dryRun: true }))[1]).toContain(
      "a is already merged into main (012345678)",
    );
  });

  it.each<[Partial<MergeReport>, ExitCode, string]>([
    [
      { commit: "0123456789abcd" },
      EXIT.done,
      "merged a into main (merge, 2 commits, now 012345678); remove its worktree with: rookery task remove a\n",
    ],
    [
      { commit: "0123456789abcd", commits: 0, already: true },
      EXIT.done,
      "a is already merged into main (012345678) and has no changes since; nothing was changed\n",
    ],
    [{ outcome: "nothing", commits: 0 }, EXIT.done, "a has no changes to merge into main\n"],
    [
      { outcome: "gate_failed", message: "exit code 1" },
      EXIT.failed,
      "the gate failed, so a was not merged into main: exit code 1; see its output: rookery task logs a\n",
    ],
    [{ outcome: "failed", message: "locked" }, EXIT.failed, "cannot merge a into main: locked\n"],
  ])("exits %j with code %i", async (change, code, text) => {
    merging(change);
    expect(await shown(mergeTaskCommand, ["a"])).toEqual([code, text]);
  });

  it("fails on conflicts and lists the files", async () => {
    merging({ outcome: "conflicts", conflicts: ["x.ts", "b\u001by"] });
    const [code, text] = await shown(mergeTaskCommand, ["a"], {
      how: "rebase",
      into: "main",
      noGate: true,
      message: "m",
    });
    expect(code).toBe(EXIT.failed);
    expect(text).toMatch(/^a conflicts with main in 2 files; nothing was changed:\n {2}x\.ts\n {2}b<U\+001B>y\n/);
    expect(text).toContain('rookery task resume a "Merge main');
    expect(service.calls).toEqual([["merge", "a", { how: "rebase", into: "main", gate: false, message: "m" }]]);
  });

  it.each([
    ["http://x", "the server continues the merge of a; see the result: rookery task show a"],
    [undefined, "the merge of a is not complete; the next process that runs tasks continues it: rookery task show a"],
  ])("tells how the merge continues after Ctrl-C, with the server %s", async (server, words) => {
    const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
    let resolve: (report: MergeReport) => void = () => undefined;
    const promise = new Promise<MergeReport>((done) => (resolve = done));
    service = createTestTaskService([taskView({ id: "a" })], {
      merge: () => promise,
      ...(server !== undefined && { server }),
    });
    const merged = shown(mergeTaskCommand, ["a"]);
    await vi.waitFor(() => expect(service.calls).toHaveLength(1));
    process.emit("SIGINT");
    expect(io.text()).toBe(`\nrookery: ${words}\n`);
    expect(exit).toHaveBeenCalledWith(EXIT.cancelled);
    resolve(report);
    await merged;
    exit.mockRestore();
  });

  it("fails with --dry-run if the merge would overwrite local changes", async () => {
    const message = "main is checked out in /w, and this merge would overwrite a.txt; commit it first";
    merging({ dryRun: true, message });
    expect(await shown(mergeTaskCommand, ["a"], { dryRun: true })).toEqual([
      EXIT.failed,
      `cannot merge a into main now: ${message}\n`,
    ]);
  });

  it("predicts the merge with --dry-run and changes nothing", async () => {
    merging({ dryRun: true });
    expect((await shown(mergeTaskCommand, ["a"], { dryRun: true, gate: "npm test" }))[1]).toBe(
      "a would merge into main without conflicts (merge, 2 commits); nothing was changed\n",
    );
    expect(service.calls.map(([name]) => name)).toEqual(["predictMerge"]);
    await expect(shown(mergeTaskCommand, ["a"], { gate: "x", noGate: true })).rejects.toMatchObject({ code: "usage" });
  });
});

describe("gc", () => {
  const report = {
    dryRun: false,
    removed: [{ id: "a", path: "/w/a", bytes: 2_000_000 }],
    kept: [{ id: "b", path: "/w/b", bytes: 1_500, why: "2 commits are not merged" }],
    freed: 2_000_000,
    left: 1_500,
  };

  it("reports removed and kept worktrees, with reasons", async () => {
    service = createTestTaskService([], { collect: async () => report });
    const [code, text] = await shown(collectTasksCommand, [], { quota: "2.5GB", cwd: "x" });
    expect(code).toBe(EXIT.done);
    expect(lines(text)).toEqual([
      "a  removed  2.0 MB  /w/a",
      "b  kept     1.5 kB  2 commits are not merged",
      "freed 2.0 MB; 1.5 kB in use",
    ]);
    expect(service.calls).toEqual([["collect", { dryRun: false, quota: 2.5e9, cwd: "/somewhere/x" }]]);
  });

  it("only lists removable worktrees with --dry-run", async () => {
    service = createTestTaskService([], { collect: async () => ({ ...report, dryRun: true }) });
    const text = (await shown(collectTasksCommand, [], { dryRun: true }))[1];
    expect(text).toContain("a  would be removed");
    expect(text).toContain("would free 2.0 MB; 1.5 kB in use; nothing was removed\n");
    await expect(shown(collectTasksCommand, [], { quota: "much" })).rejects.toThrow(
      "--quota must be a size such as 500MB",
    );
  });
});
