import { beforeEach, describe, expect, it, vi } from "vitest";
import { RookeryError } from "../../../domain/errors.ts";
import { EXIT } from "../../exit.ts";
import { listTasksCommand } from "../list.ts";
import "../open-service.ts"; // loaded before the first test, which has a time limit
import "../../tui/prompt-editor.ts";
import "./cockpit.ts";
import { createTestTaskService, taskView, terminalIo, type TestTaskService } from "../test-service.ts";

let io: ReturnType<typeof terminalIo>;
let service: TestTaskService;
beforeEach(() => {
  io = terminalIo();
  service = createTestTaskService([taskView({ id: "a", status: "running" }), taskView({ id: "b" })]);
});

const open = () => listTasksCommand({ io, args: [], options: {} }, service);
const shows = (text: string) => vi.waitFor(() => expect(io.text()).toContain(text));

describe("the cockpit", () => {
  it.each(["q", "\u0003"])("redraws in place on events until %j is typed", async (key) => {
    const opened = open();
    await shows("1 working · 1 queued");
    await vi.waitFor(() => expect(service.followers).toBe(1));
    service.change("b", { status: "failed", message: "no luck" });
    service.emit("b", { type: "task.ended", outcome: "failed" });
    await shows("1 working · 1 failed");
    io.terminalInput.write(key);
    expect(await opened).toBe(EXIT.done);
    expect(io.text()).not.toContain("\u001b[?1049h"); // the alternate screen
    expect(service.followers).toBe(0);
  });

  it("reads the tasks at most four times a second", async () => {
    const list = vi.spyOn(service.tasks, "list");
    const started = performance.now();
    const opened = open();
    await vi.waitFor(() => expect(service.followers).toBe(1));
    const noise = setInterval(() => service.emit("a", { type: "task.stop_asked" }), 2);
    await vi.waitFor(() => expect(list.mock.calls.length).toBeGreaterThanOrEqual(4), 5_000);
    clearInterval(noise);
    const elapsed = performance.now() - started;
    io.terminalInput.write("q");
    await opened;
    expect(list.mock.calls.length).toBeLessThanOrEqual(elapsed / 250 + 2);
  });

  it("assumes the usual size for a terminal that does not report one", async () => {
    Object.assign(io.stdout, { columns: 0, rows: 0 });
    const opened = open();
    await shows("n new");
    io.terminalInput.write("q");
    await opened;
  });

  it("says that it is disconnected if the tasks cannot be followed, and quits", async () => {
    vi.spyOn(service.tasks, "follow").mockImplementation(() => {
      throw new RookeryError("server_unreachable", "the server is gone");
    });
    const opened = open();
    await shows("disconnected:");
    await shows("the server is gone; trying again");
    io.terminalInput.write("q");
    expect(await opened).toBe(EXIT.done);
  });

  it("folds the diff of a request to the rows of the terminal, so that the name of the file stays visible", async () => {
    service = createTestTaskService([
      taskView({ id: "a", status: "waiting", waitingFor: [{ sessionId: "ses_1", requestId: "r1" }] }),
    ]);
    const diffs = [{ path: "long.txt", before: null, after: "line\n".repeat(30) }];
    const request = { requestId: "r1", toolId: "t", tool: "write", title: "write", kind: "edit", input: {} } as const;
    service.emit("a", { type: "permission.requested", sessionId: "ses_1", ...request, diffs });
    const opened = open();
    await shows("1 needs you");
    io.terminalInput.write("a");
    await shows("long.txt");
    await shows("more lines; d opens all of them");
    io.terminalInput.write("\u0003");
    await shows("q quits");
    io.terminalInput.write("q");
    expect(await opened).toBe(EXIT.done);
  });

  it("shows what tasks ask: earlier requests, read once from the log, and new ones from the feed", async () => {
    const sessions = [{ id: "ses_1", stage: "work" }];
    const waitingFor = [{ sessionId: "ses_1", requestId: "r1" }];
    service = createTestTaskService([taskView({ id: "a", status: "waiting", waitingFor, sessions })]);
    const request = { toolId: "t", tool: "bash", title: "bash", kind: "execute" } as const;
    const asks = (requestId: string, command: string): void =>
      service.emit("a", {
        ...{ type: "permission.requested", sessionId: "ses_1", requestId, ...request },
        input: { command },
      });
    asks("r1", "npm test a.test.ts");
    const history = vi.spyOn(service, "history");
    const opened = open();
    await shows("run npm test a.test.ts");
    expect(history).toHaveBeenCalledTimes(1);
    service.change("a", { waitingFor: [{ sessionId: "ses_1", requestId: "r2" }] });
    asks("r2", "npm run build");
    await shows("run npm run build");
    service.change("a", { waitingFor: [{ sessionId: "ses_1", requestId: "q1" }] });
    service.emit("a", {
      ...{ type: "question.asked", sessionId: "ses_1", requestId: "q1" },
      message: "Which branch?\nThere are two.",
    });
    await shows("Which branch? … (+1 line)");
    expect(history).toHaveBeenCalledTimes(1);
    io.terminalInput.write("q");
    expect(await opened).toBe(EXIT.done);
  });

  it("shows the error of a failed action and continues", async () => {
    const stop = vi.spyOn(service.tasks, "stop").mockRejectedValue(new Error("it does not stop"));
    const opened = open();
    await shows("1 working · 1 queued");
    io.terminalInput.write("s");
    await shows("Stop a? Its worktree is kept. [y/n]");
    io.terminalInput.write("y");
    await shows("it does not stop");
    expect(stop).toHaveBeenCalledWith("a", expect.anything());
    io.terminalInput.write("q");
    expect(await opened).toBe(EXIT.done);
  });

  it("restores the mode of the terminal when it is left", async () => {
    const setRawMode = vi.fn();
    Object.assign(io.terminalInput, { setRawMode });
    const opened = open();
    await shows("q quits");
    io.terminalInput.write("q");
    await opened;
    expect(setRawMode.mock.calls).toEqual([[true], [false]]);
  });
});
