import { describe, expect, it } from "vitest";
import type { CockpitCommand } from "./commands.ts";
import { decideRequest, handleCockpitKey, handleCockpitSubmit, startReason } from "./keys.ts";
import type { TaskDecideMode } from "./request-mode.ts";
import { type CockpitState, visibleTasks, withTasks } from "./state.ts";
import { cockpitWith, listedTask, READ_AT } from "./test-state.ts";

const DOWN = "\u001b[B";
const UP = "\u001b[A";
const ESC = "\u001b";
const CTRL_C = "\u0003";

/** Types the keys, and returns the last state and all commands. */
function type(state: CockpitState, ...keys: string[]): { state: CockpitState; commands: CockpitCommand[] } {
  const commands: CockpitCommand[] = [];
  let current = state;
  for (const key of keys) {
    const step = handleCockpitKey(current, key);
    current = step.state;
    if (step.command !== undefined) commands.push(step.command);
  }
  return { state: current, commands };
}

const request = {
  sessionId: "ses_1",
  taskId: "a",
  asked: { requestId: "req_1", tool: "bash", input: { command: "npm test" } },
};
const mode: TaskDecideMode = { type: "decide", request, isPrinted: false };
const deciding = (): CockpitState => ({ ...cockpitWith({ id: "a" }), mode });

describe("the order of tasks", () => {
  it("puts tasks that need an answer first, then working, parked, queued, done and failed ones", () => {
    const state = cockpitWith(
      { id: "failed", status: "failed" },
      { id: "done", status: "done" },
      { id: "queued" },
      { id: "parked", status: "parked" },
      { id: "gone", status: "running", interrupted: true },
      { id: "merging", status: "done", merge: { how: "merge", into: "main" } },
      { id: "running", status: "running" },
      { id: "asks", status: "waiting" },
    );
    expect(state.tasks.map(({ id }) => id)).toEqual([
      "asks",
      "merging",
      "running",
      "gone",
      "parked",
      "queued",
      "done",
      "failed",
    ]);
    expect(state.selectedId).toBe("asks");
  });

  it("keeps the selected task when the order changes, and selects its neighbor when it is removed", () => {
    const state = type(cockpitWith({ id: "a" }, { id: "b" }, { id: "c" }), DOWN).state;
    expect(state.selectedId).toBe("b");
    const moved = withTasks(state, [listedTask({ id: "a" }), listedTask({ id: "b", status: "waiting" })], READ_AT);
    expect([moved.selectedId, moved.tasks[0]?.id]).toEqual(["b", "b"]);
    expect(withTasks(state, [listedTask({ id: "a" }), listedTask({ id: "c" })], READ_AT).selectedId).toBe("c");
    expect(withTasks(state, [], READ_AT).selectedId).toBeUndefined();
  });
});

it("removes the notice that a task is queued when the task is not", () => {
  const notice = { text: "a is queued", color: "green", queuedId: "a" } as const;
  const state: CockpitState = { ...cockpitWith({ id: "a" }), notice };
  expect(withTasks(state, [listedTask({ id: "a" })], READ_AT).notice).toBe(notice);
  expect(withTasks(state, [], READ_AT).notice).toBe(notice); // a new task is not in the list yet
  expect(withTasks(state, [listedTask({ id: "a", status: "running" })], READ_AT).notice).toBeUndefined();
});

describe("keys in the list", () => {
  const state = cockpitWith({ id: "a" }, { id: "b" }, { id: "c" });

  it.each([
    [[DOWN], "b"],
    [["j", "j", "j", "j"], "c"],
    [["j", "k"], "a"],
    [[UP], "a"],
    [["G"], "c"],
    [["G", "g"], "a"],
  ])("selects with %j", (keys, id) => {
    expect(type(state, ...keys).state.selectedId).toBe(id);
  });

  it.each(["q", CTRL_C, "\u0004"])("quits with %j", (key) => {
    expect(type(state, key).commands).toEqual([{ type: "quit" }]);
  });

  it("opens a transcript with Enter, and closes it with Esc or q", () => {
    const opened = type(state, DOWN, "\r");
    expect(opened.commands).toEqual([{ type: "openTranscript", id: "b" }]);
    for (const key of [ESC, "q"]) {
      const closed = type(opened.state, key);
      expect(closed.commands).toEqual([{ type: "closeTranscript" }]);
      expect(closed.state.openId).toBeUndefined();
    }
    expect(type(opened.state, CTRL_C).commands).toEqual([{ type: "quit" }]);
  });

  it("does nothing with keys for a task if there is none", () => {
    expect(type(cockpitWith(), "\r", "a", "d", "m", "s", "r", "j", "k").commands).toEqual([]);
  });

  it("filters by the words of title, id, agent and state, and shows all after Esc", () => {
    const tasks = cockpitWith(
      { id: "a", title: "Add pages", agent: "claude" },
      { id: "b", title: "Add tests", agent: "codex", status: "running" },
    );
    const ids = (typed: string, ...keys: string[]) =>
      visibleTasks(type(tasks, "/", ...Array.from(typed), ...keys).state).map(({ id }) => id);
    expect(ids("pages")).toEqual(["a"]);
    expect(ids("ADD co")).toEqual(["b"]);
    expect(ids("working")).toEqual(["b"]);
    expect(ids("pagesx", "\u007f", "\r")).toEqual(["a"]);
    expect(ids("pages", ESC)).toEqual(["b", "a"]);
    expect(ids("pages", "\r", ESC)).toEqual(["b", "a"]);
    expect(ids("nothing such")).toEqual([]);
    expect(type(tasks, "/", ...Array.from("pages")).state.selectedId).toBe("a");
  });
});

describe("keys for a task", () => {
  it("asks before it stops a task", () => {
    const { state, commands } = type(cockpitWith({ id: "a", status: "running" }), "s");
    expect([state.mode.type, commands]).toEqual(["confirm", []]);
    expect(type(state, "y")).toMatchObject({
      state: { mode: { type: "browse" } },
      commands: [{ type: "stop", id: "a" }],
    });
    for (const key of ["n", ESC, CTRL_C]) {
      expect(type(state, key)).toMatchObject({ state: { mode: { type: "browse" } }, commands: [] });
    }
    expect(type(state, "x", "\r").state.mode.type).toBe("confirm");
  });

  it("refuses what the state of the task does not allow, and says why", () => {
    const notice = (view: Parameters<typeof listedTask>[0], key: string) => {
      const { state, commands } = type(cockpitWith(view), key);
      expect(commands).toEqual([]);
      return state.notice?.text;
    };
    expect(notice({ id: "a" }, "a")).toBe("a does not ask anything");
    expect(notice({ id: "a", status: "done" }, "s")).toBe("a has ended already");
    expect(notice({ id: "a", status: "running" }, "m")).toBe("a is working; it can be merged when it has ended");
    expect(notice({ id: "a", status: "running" }, "r")).toBe("a is working; s stops it");
  });

  it("runs a queued or interrupted task here with r, unless a server takes it", () => {
    for (const view of [{ id: "a" }, { id: "a", status: "running", interrupted: true } as const]) {
      expect(type(cockpitWith(view), "r").commands).toEqual([{ type: "runHere", id: "a" }]);
      const { state, commands } = type({ ...cockpitWith(view), server: "http://x" }, "r");
      expect([commands, state.notice?.color]).toEqual([[], "yellow"]);
    }
    expect(type({ ...cockpitWith({ id: "a" }), localRuns: new Set(["a"]) }, "r").commands).toEqual([]);
  });

  it("asks before it interrupts the tasks that run here, and treats a second Ctrl-C as yes", () => {
    const state = { ...cockpitWith({ id: "a", status: "running" }), localRuns: new Set(["a"]) };
    expect(type(state, "q").commands).toEqual([]);
    expect(type(state, "q", "n").commands).toEqual([]);
    expect(type(state, "q", "y").commands).toEqual([{ type: "quit" }]);
    expect(type(state, "\u0003", "\u0003").commands).toEqual([{ type: "quit" }]);
  });

  it("resumes with a prompt, which only a done task requires", () => {
    const done = type(cockpitWith({ id: "a", status: "done" }), "r").state;
    expect(handleCockpitSubmit(done, "  ").command).toBeUndefined();
    expect(handleCockpitSubmit(done, " more ").command).toEqual({ type: "resume", id: "a", prompt: "more" });
    const failed = type(cockpitWith({ id: "a", status: "failed" }), "r").state;
    expect(handleCockpitSubmit(failed, "").command).toEqual({ type: "resume", id: "a", prompt: undefined });
  });

  it("starts a task with n, and not if the line is empty or Esc is typed", () => {
    const { state } = type(cockpitWith(), "n");
    expect(handleCockpitSubmit(state, "Do it").command).toEqual({ type: "start", prompt: "Do it" });
    expect(handleCockpitSubmit(state, " ").command).toBeUndefined();
    expect(type(state, "q", "y").commands).toEqual([
      { type: "edit", data: "q" },
      { type: "edit", data: "y" },
    ]);
    expect(type(state, ESC).state.mode.type).toBe("browse");
  });

  it("reads the request, the diff and the preview of the merge", () => {
    const asks = cockpitWith({ id: "a", status: "waiting", waitingFor: [{ sessionId: "s", requestId: "r" }] });
    expect(type(asks, "a", "d").commands).toEqual([
      { type: "readRequest", id: "a" },
      { type: "showDiff", id: "a" },
    ]);
    expect(type(cockpitWith({ id: "a", status: "done" }), "m").commands).toEqual([{ type: "previewMerge", id: "a" }]);
  });
});

describe("the key a on a task without a request", () => {
  const waitingFor = [{ sessionId: "s", requestId: "r" }];
  const state = cockpitWith({ id: "asks", status: "waiting", waitingFor }, { id: "done", status: "done" });

  it("selects the first task that asks, and answers only when it is pressed again", () => {
    const { state: next, commands } = type(state, DOWN, "a", "y");
    expect(next.selectedId).toBe("asks");
    expect(commands).toEqual([]);
    expect(type(next, "a").commands).toEqual([{ type: "readRequest", id: "asks" }]);
  });

  it("stays with the task whose transcript is open, and skips a task whose process is gone", () => {
    const open = { ...type(state, DOWN).state, openId: "done" };
    expect(type(open, "a").state.notice?.text).toBe("done does not ask anything");
    const gone = cockpitWith({ id: "asks", status: "waiting", waitingFor, interrupted: true }, { id: "new" });
    expect(type({ ...gone, selectedId: "new" }, "a").state.selectedId).toBe("new");
  });
});

describe("keys for a request", () => {
  it("leaves each key to the timer, which tells a choice from a letter", () => {
    for (const data of ["y", "a", "n", "w", "\r", " "]) {
      const { state, commands } = type(deciding(), data);
      expect(commands).toEqual([{ type: "decisionKey", mode, data }]);
      expect(state.mode.type).toBe("decide");
    }
  });

  it("answers with a choice, and returns to the list", () => {
    const answer = { decision: "allow", scope: "once" } as const;
    const { state, command } = decideRequest(deciding(), mode, { answer });
    expect([state.mode.type, command]).toEqual(["browse", { type: "answer", request, answer }]);
  });

  it("decides nothing with Esc or Ctrl-C", () => {
    for (const key of [ESC, CTRL_C])
      expect(type(deciding(), key)).toMatchObject({ commands: [], state: { mode: { type: "browse" } } });
  });

  it("leaves Esc to the question after one a, and Ctrl-C leaves the question", () => {
    const state = { ...deciding(), mode: { ...mode, isAlwaysAsked: true } };
    expect(type(state, ESC)).toMatchObject({
      commands: [{ type: "decisionKey", mode: { isAlwaysAsked: true }, data: ESC }],
      state: { mode: { type: "decide" } },
    });
    expect(type(state, CTRL_C)).toMatchObject({ commands: [], state: { mode: { type: "browse" } } });
  });

  it("denies with another command or a reason after e", () => {
    const { state, command } = decideRequest(deciding(), mode, { edit: true });
    expect(command).toEqual({ type: "setInput", text: "npm test" });
    expect(handleCockpitSubmit(state, "npm run quick").command).toEqual({
      type: "answer",
      request,
      answer: { decision: "deny", message: "Run this command instead: npm run quick" },
    });
    expect(type(state, ESC).state.mode.type).toBe("decide");
    const typed = startReason(deciding(), { type: "reason", request, isPrinted: false, isCommand: false }, "wa");
    expect(typed.command).toEqual({ type: "setInput", text: "wa" });
    expect(handleCockpitSubmit(typed.state, "wait").command).toEqual({
      type: "answer",
      request,
      answer: { decision: "deny", message: "wait" },
    });
  });
});
