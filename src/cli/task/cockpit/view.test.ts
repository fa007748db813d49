import { describe, expect, it } from "vitest";
import { displayWidth } from "../../display-width.ts";
import { ansiPaint, plainPaint } from "../../paint.ts";
import type { TaskRequest } from "../requests.ts";
import { fitsCockpit } from "./asked-request.ts";
import { formatLeaving } from "./leaving.ts";
import { type CockpitMode, type CockpitState, withTasks } from "./state.ts";
import { cockpitWith, listedTask, READ_AT } from "./test-state.ts";
import { renderCockpit } from "./view.ts";

const USAGE = { inputTokens: 900, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0.5 };

function render(state: CockpitState, columns = 80, rows = 24, paint = plainPaint): readonly string[] {
  return renderCockpit(state, {
    columns,
    rows,
    paint,
    now: READ_AT + 3_000,
    renderInput: (label) => ({ lines: [label], cursor: { row: 0, column: 0 } }),
    progress: [],
    transcript: () => ({ lines: [], below: 0 }),
  }).lines.map((line) => (paint === plainPaint ? withoutStyles(line) : line));
}

/** Truncated text resets styles, even without colors. */
function withoutStyles(text: string): string {
  return text.replaceAll(/\u001b\[[0-9;]*m/g, "").trimEnd();
}

const TASKS = () =>
  cockpitWith(
    { id: "one", title: "Add pages", status: "running", startedAt: "2026-01-01T09:59:00.000Z", ranMs: 60_000 },
    { id: "two", title: "Fix the test", status: "done", startedAt: "x", ranMs: 5_000, usage: USAGE as never },
  );

describe("the list", () => {
  it("shows state, title, agent, elapsed time, changed files and cost", () => {
    const lines = render({ ...TASKS(), changedFiles: new Map([["two", 3]]) });
    expect(lines[0]).toBe("1 working · 1 done · no server");
    expect(lines[1]).toMatch(/^❯ ● working {2}Add pages +claude {2}1m 3s$/);
    expect(lines[2]).toMatch(/^ {2}✓ done {5}Fix the test +claude {5}5s {2}3 files {2}\$0\.5000$/);
    expect(lines.at(-1)).toContain("q quits");
  });

  it("shows merged tasks after those that are still to be merged, and counts in the plural", () => {
    const merge = { how: "merge", into: "main", outcome: "merged" } as const;
    const lines = render(
      cockpitWith(
        { id: "a", status: "done", merge },
        { id: "b", status: "done" },
        { id: "c", status: "waiting" },
        { id: "d", status: "waiting" },
      ),
    );
    expect(lines[0]).toBe("2 need you · 1 done · 1 merged · no server");
    expect(lines[3]).toMatch(/✓ done {7}b/);
    expect(lines[4]).toMatch(/✓ merged {5}a/);
  });

  it("is hidden while a request is open, which has its details and its keys", () => {
    const asking = { type: "decide", request: { ...request, taskId: "two" }, isPrinted: false } as const;
    const lines = render({ ...TASKS(), mode: asking });
    expect(lines.slice(0, 3)).toEqual(["", "two · Fix the test asks", "? Allow bash?"]);
    expect(lines.join("").match(/x{2,}/g)?.join("")).toHaveLength(300);
    expect(lines.join("\n")).toContain("y yes · n no · a always · e edit the command");
    expect(lines.join("\n")).not.toContain("Add pages");
    expect(fitsCockpit(request.asked, { width: 80, rows: 24, paint: plainPaint })).toBe(true);
    expect(fitsCockpit(request.asked, { width: 80, rows: 10, paint: plainPaint })).toBe(false); // it is printed
  });

  it("selects a new task when it is listed", () => {
    const waits = { ...TASKS(), newId: "new" };
    expect(withTasks(waits, TASKS().tasks, READ_AT)).toMatchObject({ selectedId: "one", newId: "new" });
    const listed = withTasks(waits, [...TASKS().tasks, listedTask({ id: "new" })], READ_AT);
    expect(listed).toMatchObject({ selectedId: "new", newId: undefined });
  });

  it("leaves out cost, files, agent and time, in this order, if the terminal is narrow", () => {
    const state = { ...TASKS(), changedFiles: new Map([["two", 3]]) };
    const row = (columns: number) => render(state, columns)[2] ?? "";
    expect(row(60)).toContain("$0.5000");
    expect(row(44)).not.toContain("$");
    expect(row(44)).toContain("3 files");
    expect(row(34)).not.toContain("files");
    expect(row(34)).toContain("claude");
    expect(row(28)).not.toContain("claude");
    expect(row(28)).toContain("5s");
    expect(row(20)).toMatch(/^ {2}✓ Fix the test/);
  });

  it("says how to start if there is no task, and how to see all if none matches", () => {
    expect(render(cockpitWith()).join("\n")).toContain("no tasks; press n to start one");
    expect(render({ ...TASKS(), filter: "zzz" }).join("\n")).toContain('no task matches "zzz"; Esc shows all');
  });

  it("scrolls with the selection, and shows its position and the total", () => {
    const many = cockpitWith(...Array.from({ length: 40 }, (_, at) => ({ id: `t${at}`, title: `Task ${at}.` })));
    const lines = render({ ...many, selectedId: "t30" }, 80, 12);
    expect(lines.length).toBeLessThanOrEqual(11);
    expect(lines.join("\n")).toContain("❯ ○ queued  Task 30.");
    expect(lines.at(-1)).toContain("31 of 40");
  });

  it("shows the reason for a lost connection and keeps the tasks", () => {
    const text = render({ ...TASKS(), disconnected: "cannot reach it; trying again" }).join("\n");
    expect(text).toContain("disconnected: cannot reach it; trying again");
    expect(text).toContain("Add pages");
  });
});

const request = {
  taskId: "a",
  sessionId: "s",
  asked: { requestId: "r", tool: "bash", input: { command: "x".repeat(300) } },
};
const MODES: readonly CockpitMode[] = [
  { type: "browse" },
  { type: "filter" },
  { type: "help" },
  {
    type: "confirm",
    lines: ["a would merge into main", "漢字".repeat(40)],
    question: "Merge it?",
    accept: { type: "quit" },
  },
  { type: "input", label: "new task: ", purpose: { type: "start" } },
  ...[true, false].flatMap((isPrinted): CockpitMode[] => [
    { type: "decide", request, isPrinted },
    { type: "decide", request, isPrinted, isAlwaysAsked: true },
    { type: "reason", request, isPrinted, isCommand: false },
  ]),
];

describe("what a task asks", () => {
  const waitingFor = [
    { sessionId: "s", requestId: "r" },
    { sessionId: "s", requestId: "q" },
  ];
  const state = cockpitWith({ id: "a", title: "Add pages", status: "waiting", waitingFor });

  it("is in the detail line of the list and below the name of an open task, clipped to the width", () => {
    const askedSubjects = new Map([["s r", `run npm test ${"x".repeat(100)}`]]);
    const asks = /^ {2}a · asks: run npm test x+…$/m;
    expect(render({ ...state, askedSubjects }).join("\n")).toMatch(asks);
    const open = render({ ...state, askedSubjects, openId: "a" });
    expect(open.slice(1, 3)).toEqual(["a · Add pages", expect.stringMatching(/^asks: run npm test x+…$/)]);
    for (const line of open) expect(displayWidth(line)).toBeLessThanOrEqual(80);
  });

  it("counts further requests", () => {
    const lines = render({ ...state, askedSubjects: new Map([["s r", "run npm test"]]) });
    expect(lines).toContain("  a · asks: run npm test (and 1 more)");
  });

  it("leaves no separator behind the id of a task that asks nothing and did nothing", () => {
    const lines = render(cockpitWith({ id: "b", status: "queued" }), 80, 24, ansiPaint).map(withoutStyles);
    expect(lines).toContain("  b");
  });

  it("is absent until it is known", () => {
    expect(render(state)).toContain("  a · needs an answer: press a");
    expect(render({ ...state, openId: "a" })).toContain("needs an answer: press a");
  });

  it("says on a small screen what e does", () => {
    const decide = (asked: TaskRequest["asked"]): CockpitMode => {
      return { type: "decide", request: { ...request, asked }, isPrinted: false };
    };
    expect(render({ ...state, mode: decide(request.asked) }, 20, 6).at(-1)).toBe("y n a, e edit, Esc");
    const edit = { requestId: "r", tool: "write", input: { path: "a.ts", content: "x\n".repeat(9) } };
    expect(render({ ...state, mode: decide(edit) }, 20, 6).at(-1)).toBe("y n a, e reason, Esc");
  });
});

it.each([
  [{ status: "running" }, "d diff · s stop"],
  [{ status: "waiting", waitingFor: [{ sessionId: "s", requestId: "r" }] }, "a answer · d diff · s stop"],
  [{ status: "done" }, "d diff · m merge · r resume"],
] as const)("offers the keys that a task allows: %j", (view, keys) => {
  const state = cockpitWith({ id: "a", ...view });
  expect(render(state, 120).at(-1)).toContain(`Enter open · ${keys} · n new`);
  expect(render({ ...state, openId: "a" }, 120).at(-1)).toContain(`Esc back · ↑↓ scroll · ${keys} · ? keys`);
});

it("lists its keys in full at 80 columns", () => {
  expect(render({ ...TASKS(), mode: { type: "help" } }).join("\n")).not.toContain("…");
});

it.each([
  [{ type: "start" }, "Enter starts it · Esc cancels"],
  [{ type: "resume", id: "two", isPromptRequired: true }, "Enter resumes it · Esc cancels"],
] as const)("says what Enter and Esc do with a line for %j", (purpose, hint) => {
  const mode = { type: "input", label: "new task: ", purpose } as const;
  expect(render({ ...TASKS(), mode }).slice(-2)).toEqual(["new task:", hint]);
});

it("says how to give a reason in place of another command", () => {
  const mode = { type: "reason", request, isPrinted: true, isCommand: true } as const;
  expect(render({ ...TASKS(), mode }).at(-1)).toBe(
    "Enter tells the agent to run this · Ctrl-U: a reason instead · Esc goes back",
  );
});

describe("a view of any size", () => {
  const hostile = cockpitWith(
    {
      id: "a",
      title: "\u001b[2J\u001b]0;owned\u0007\u202eevil\u200b\n\rtitle 漢字漢字 👩‍👩‍👧",
      agent: "\u001b[31mred",
      status: "running",
    },
    { id: "b", title: "漢".repeat(200), status: "failed", message: "\u009b1A broken\nlines" },
    { id: "c", title: "\u0000", status: "waiting" },
  );

  it.each([
    [20, 5],
    [21, 6],
    [40, 10],
    [80, 24],
    [120, 40],
    [200, 60],
  ])("fits %i columns and %i rows in every mode, with hostile titles", (columns, rows) => {
    for (const mode of MODES) {
      for (const openId of [undefined, "a"]) {
        const notice = { text: "note\u001b[2J ".repeat(50), color: "yellow" as const };
        const lines = render({ ...hostile, mode, openId, notice, filter: "" }, columns, rows);
        expect(lines.length).toBeLessThanOrEqual(rows - 1);
        for (const line of lines) {
          expect(displayWidth(line)).toBeLessThanOrEqual(columns);
          expect(line).not.toMatch(/[\p{Cc}\u202e\u200b]/u);
        }
      }
    }
  });

  it("shows a task and the way out at 20x5", () => {
    const lines = render(hostile, 20, 5);
    expect(lines.some((line) => line.startsWith("❯ "))).toBe(true);
    expect(lines.at(-1)).toContain("q quits");
  });

  it("has the same text with colors", () => {
    const colored = render(hostile, 80, 24, ansiPaint);
    expect(colored.join("")).toContain("\u001b[31m");
    expect(colored.map(withoutStyles)).toEqual(render(hostile));
  });
});

describe("formatLeaving", () => {
  it("says who continues the tasks", () => {
    const state = cockpitWith({ id: "a", status: "running" }, { id: "b" }, { id: "c", status: "done" });
    expect(formatLeaving({ ...state, server: "http://x" })).toBe("2 tasks stay with the server at http://x");
    expect(formatLeaving(state)).toBe("1 task waits; continue with: rookery task resume b, or rookery serve");
    expect(formatLeaving({ ...state, localRuns: new Set(["a"]) })).toBe("2 tasks wait; continue with: rookery serve");
    expect(formatLeaving(cockpitWith())).toBe("");
  });
});
