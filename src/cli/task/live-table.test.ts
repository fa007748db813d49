import { beforeEach, describe, expect, it, vi } from "vitest";
import { EXIT } from "../exit.ts";
import { listTasksCommand } from "./list.ts";
import { taskView, terminalIo, createTestTaskService, type TestTaskService } from "./test-service.ts";

let io: ReturnType<typeof terminalIo>;
let service: TestTaskService;
beforeEach(() => {
  io = terminalIo();
  service = createTestTaskService([taskView({ id: "a", status: "running" }), taskView({ id: "b" })]);
});

const watch = () => listTasksCommand({ io, args: [], options: {} }, service);
const UP_FOUR = "\r\u001b[4A"; // the header, two tasks and the footer
const frames = () => io.text().split("\u001b[J").slice(0, -1);

describe("the live table", () => {
  it.each(["q", "\u0003"])("redraws in place on events until %j is typed", async (key) => {
    const watching = watch();
    await vi.waitFor(() => expect(io.text()).toContain("1 running · 1 queued · q quits"));
    await vi.waitFor(() => expect(service.followers).toBe(1));
    service.change("b", { status: "failed", message: "no luck" });
    service.emit("b", { type: "task.ended", outcome: "failed" });
    await vi.waitFor(() => expect(io.text()).toContain("no luck"));
    io.terminalInput.write(key);
    expect(await watching).toBe(EXIT.done);
    expect(io.text()).toContain(UP_FOUR);
    expect(io.text()).not.toContain("\u001b[?1049h"); // the alternate screen
    expect(frames().at(-1)).toContain("1 running · 1 failed");
    expect(service.followers).toBe(0);
  });

  it("redraws at most four times a second", async () => {
    const list = vi.spyOn(service.tasks, "list");
    const started = performance.now();
    const watching = watch();
    await vi.waitFor(() => expect(service.followers).toBe(1));
    const noise = setInterval(() => service.emit("a", { type: "task.stop_asked" }), 2);
    await vi.waitFor(() => expect(frames().length).toBeGreaterThanOrEqual(4));
    clearInterval(noise);
    const elapsed = performance.now() - started;
    io.terminalInput.write("q");
    await watching;
    expect(frames().length).toBeLessThanOrEqual(elapsed / 250 + 2);
    expect(list.mock.calls.length).toBeLessThanOrEqual(elapsed / 250 + 2);
  });

  it("shows at most as many lines as the terminal has, and counts the omitted ones", async () => {
    service.views = Array.from({ length: 15 }, (_, index) => taskView({ id: `t${index}` }));
    const watching = watch();
    await vi.waitFor(() => expect(io.text()).toContain("… 7 more"));
    io.terminalInput.write("q");
    await watching;
    expect(frames()[0]?.split("\n").length).toBeLessThanOrEqual(12);
  });

  it("assumes the usual size for a terminal that does not report one", async () => {
    Object.assign(io.stdout, { columns: 0, rows: 0 });
    const watching = watch();
    await vi.waitFor(() => expect(io.text()).toMatch(/\nb +.*queued/));
    io.terminalInput.write("q");
    await watching;
  });

  it("rejects with the error if the tasks cannot be followed", async () => {
    vi.spyOn(service.tasks, "follow").mockImplementation(() => {
      throw new Error("the server is gone");
    });
    await expect(watch()).rejects.toThrow("the server is gone");
  });

  it("restores the mode of the terminal", async () => {
    const setRawMode = vi.fn();
    Object.assign(io.terminalInput, { setRawMode });
    const watching = watch();
    await vi.waitFor(() => expect(setRawMode).toHaveBeenCalledWith(true));
    io.terminalInput.write("q");
    await watching;
    expect(setRawMode.mock.calls).toEqual([[true], [false]]);
  });
});
