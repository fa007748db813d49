import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { MAX_PAGE, type LogEvent, type TaskEvent } from "../domain/index.ts";
import { openScene } from "./test-scene.ts";

type Scene = Awaited<ReturnType<typeof openScene>>;

async function eventsOf({ rookery }: Scene, taskId: string): Promise<readonly TaskEvent[]> {
  return (await rookery.store.readTask({ taskId })).events;
}

async function typesOf(scene: Scene, id: string): Promise<string[]> {
  return (await eventsOf(scene, id)).filter(({ type }) => type !== "output.text").map(({ type }) => type);
}

describe("a task", () => {
  it("runs in its own worktree and branch, and gets its uncommitted changes committed", async () => {
    await using s = await openScene();
    s.run();
    const { id } = await s.tasks.start({ id: "hello", prompt: "Greet\nrun: echo hi > hi.txt; pwd" });
    const done = await s.until(id, "done");
    const path = join(s.repository.path, ".rookery/worktrees/hello");
    expect(done).toMatchObject({ agent: "robin", stages: ["work"], runs: 1, title: "Greet" });
    expect(done.worktree).toMatchObject({ path, branch: "rookery/hello", base: "main", removed: false });
    expect(readFileSync(join(path, "hi.txt"), "utf8")).toBe("hi\n");
    expect(await s.repository.git("log", "--format=%s%n%b", "main..rookery/hello")).toBe(
      "Greet\nRookery-Task: hello\n",
    );
    expect(existsSync(join(s.repository.path, "hi.txt"))).toBe(false);
    expect(await s.repository.git("status", "--porcelain")).toBe("?? rookery.toml");
    expect(await typesOf(s, id)).toEqual([
      "task.created",
      "task.started",
      "worktree.made",
      "worktree.ready",
      "stage.started",
      "stage.ended",
      "task.ended",
    ]);
  });

  it("has its own port and variables, also during setup, and logs the output of the setup", async () => {
    await using s = await openScene({
      toml: `[worktree]\nsetup = "echo $ROOKERY_TASK on $PORT > setup.txt; echo ready-$ROOKERY_TASK"\ncopy = [".env"]\n`,
    });
    await s.repository.write(".env", "SECRET=1\n");
    s.run();
    const prompt = "run: cat .env > seen.txt; echo $ROOKERY_PORT $ROOKERY_BASE >> seen.txt; sleep 0.5";
    const views = await Promise.all(["one", "two"].map((id) => s.tasks.start({ id, prompt })));
    await Promise.all(views.map(({ id }) => s.until(id, "done")));
    const ports = await Promise.all(
      ["one", "two"].map(async (id) => {
        const { worktree } = await s.tasks.show(id);
        const read = (file: string) => readFileSync(join(worktree?.path ?? "", file), "utf8");
        expect(read("seen.txt")).toBe(`SECRET=1\n${worktree?.port} main\n`);
        expect(read("setup.txt")).toBe(`${id} on ${worktree?.port}\n`);
        return worktree?.port;
      }),
    );
    expect(new Set(ports).size).toBe(2);
    expect(await s.repository.git("ls-tree", "--name-only", "rookery/one")).not.toContain(".env"); // although git does not ignore it
    const output = (await eventsOf(s, "one")).filter((event) => event.type === "output.text");
    expect(output).toMatchObject([{ from: "setup", text: expect.stringContaining("ready-one") as string }]);
  });

  it("has no changes, nothing to merge and a worktree that can be removed if only its setup left files", async () => {
    await using s = await openScene({
      toml: `[worktree]\nsetup = "echo 2 > README.md; echo made > made.txt"\n`,
    });
    await s.repository.git("add", "rookery.toml");
    await s.repository.git("commit", "--quiet", "--message=Configure");
    s.run();
    await s.tasks.start({ id: "idle", prompt: "run: true" });
    await s.until("idle", "done");
    expect(await s.tasks.diff("idle")).toMatchObject({ files: [], commits: [], uncommitted: false, patch: "" });
    expect(await s.tasks.merge("idle")).toMatchObject({ outcome: "nothing" });
    expect((await s.tasks.collect()).removed).toMatchObject([{ id: "idle" }]);
    expect(await s.repository.git("status", "--porcelain")).toBe("");
  });

  it("is retried as often as configured when its agent fails, and then fails with the agent's message", async () => {
    await using s = await openScene();
    s.run();
    await s.tasks.start({ id: "bad", prompt: "run: exit 3", retries: 1 });
    const view = await s.until("bad", "failed");
    expect(view).toMatchObject({
      code: "stage_failed",
      runs: 2,
      message: expect.stringMatching(/^robin .*3/) as string,
    });
    expect(await typesOf(s, "bad")).toContain("task.queued");
  });

  it("fails with setup_failed and the output if its setup fails", async () => {
    await using s = await openScene({ toml: `[worktree]\nsetup = "echo no such thing; exit 7"\n` });
    s.run();
    await s.tasks.start({ id: "unset", prompt: "run: true" });
    const view = await s.until("unset", "failed");
    expect(view).toMatchObject({ code: "setup_failed", message: expect.stringMatching(/7.*no such thing/s) as string });
  });

  it("keeps its worktree when it is stopped, and continues there in the same session", async () => {
    await using s = await openScene();
    s.run();
    const prompt = `run: [ -e half ] && { echo whole > whole; exit; }; touch half; sleep 60`;
    await s.tasks.start({ id: "long", prompt });
    const { worktree } = await s.until("long", "running");
    await vi.waitFor(() => expect(existsSync(join(worktree?.path ?? "", "half"))).toBe(true), 10_000);
    const running = await s.tasks.show("long");
    const stopped = await s.tasks.stop("long");
    expect(stopped).toMatchObject({
      status: "stopped",
      message: expect.stringContaining(running.worktree?.path ?? "") as string,
    });
    await expect(s.tasks.stop("long")).rejects.toMatchObject({ code: "task_state" });
    await s.tasks.resume("long");
    const done = await s.until("long", "done");
    expect(done.sessions).toEqual(running.sessions);
    expect(done.worktree?.path).toBe(running.worktree?.path);
    expect(existsSync(join(done.worktree?.path ?? "", "whole"))).toBe(true);
    const { events } = await s.rookery.store.read({ sessionId: done.sessions[0]?.id ?? "" });
    const outcomes = events.flatMap((event) => (event.type === "turn.ended" ? [event.outcome.status] : []));
    expect(outcomes).toEqual(["cancelled", "done"]);
  });

  it("cannot be started twice, and the message names the running session", async () => {
    await using s = await openScene();
    s.run();
    await s.tasks.start({ id: "twice", prompt: "run: sleep 30" });
    await s.until("twice", "running");
    await vi.waitFor(async () => expect((await s.tasks.show("twice")).sessions).toHaveLength(1));
    const again = s.tasks.start({ id: "twice", prompt: "run: true" });
    await expect(again).rejects.toMatchObject({
      code: "task_exists",
      message: expect.stringMatching(/is running: agent robin, session ses_\w+, in /) as string,
    });
    await s.tasks.stop("twice");
  });

  it("waits for the tasks that it needs, and reports that", async () => {
    await using s = await openScene();
    await s.tasks.start({ id: "first", prompt: "run: touch first" });
    await s.tasks.start({ id: "second", prompt: "run: true", needs: ["first"], priority: 100 });
    expect(await s.tasks.show("second")).toMatchObject({ status: "queued", message: "needs first, which is queued" });
    s.run();
    const second = await s.until("second", "done");
    const first = await s.tasks.show("first");
    expect(Date.parse(second.startedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(first.endedAt ?? ""));
    await expect(s.tasks.start({ id: "own", prompt: "x", needs: ["own"] })).rejects.toMatchObject({
      code: "input_invalid",
    });
    await expect(s.tasks.start({ prompt: "x", needs: ["none"] })).rejects.toMatchObject({ code: "task_not_found" });
  });

  it("is stopped when its time is used up, and continues with a larger budget", async () => {
    await using s = await openScene();
    s.run();
    await s.tasks.start({ id: "slow", prompt: "run: [ -e x ] || { touch x; sleep 60; }", budget: { seconds: 1 } });
    const view = await s.until("slow", "stopped");
    expect(view).toMatchObject({ code: "budget_reached", message: expect.stringContaining("1 s") as string });
    await s.tasks.resume("slow", { budget: { seconds: 60 } });
    await s.until("slow", "done");
  });

  it("gets a new worktree from its branch if the user deleted the old one", async () => {
    await using s = await openScene({ toml: `[worktree]\nsetup = "touch set-up"\n` });
    s.run();
    await s.tasks.start({ id: "gone", prompt: "run: touch made" });
    const { worktree } = await s.until("gone", "done");
    await rm(worktree?.path ?? "", { recursive: true });
    await expect(s.tasks.diff("gone")).rejects.toMatchObject({ code: "worktree_missing" });
    await s.tasks.resume("gone", { prompt: "run: ls > listed" });
    await s.until("gone", "done");
    expect(readFileSync(join(worktree?.path ?? "", "listed"), "utf8")).toMatch(/made\n(.*\n)*set-up/);
  });
});

describe("limits", () => {
  it.each([
    ["of all tasks", "", "[defaults]\nmax_running = 2\n"],
    ["of the repository", "[limits]\nper_repository = 2\n", "[defaults]\nmax_running = 8\n"],
  ])("%s are enforced", async (_, toml, user) => {
    await using s = await openScene({ toml, user });
    s.run();
    const ids = ["a", "b", "c", "d", "e"];
    for (const id of ids) await s.tasks.start({ id, prompt: "run: sleep 0.3" });
    await Promise.all(ids.map((id) => s.until(id, "done")));
    expect(await countMostRunning(s, ids)).toBe(2);
  });

  it("are enforced across processes, and each task runs once", async () => {
    await using s = await openScene({ user: "[defaults]\nmax_running = 3\n" });
    const ids = Array.from({ length: 9 }, (_, index) => `t${index}`);
    for (const id of ids) await s.tasks.start({ id, prompt: "run: echo x >> once; sleep 0.2" });
    const other = await s.open();
    void other.runTasks({ only: "t0" }).catch(() => undefined);
    await s.until("t0", "running", "done");
    s.run();
    await Promise.all(ids.map((id) => s.until(id, "done")));
    expect(await countMostRunning(s, ids)).toBeLessThanOrEqual(3);
    for (const id of ids) {
      expect(await s.repository.git("show", `rookery/${id}:once`)).toBe("x");
      expect((await s.tasks.show(id)).runs).toBe(1);
    }
    const owners = (await Promise.all(ids.map((id) => eventsOf(s, id)))).flatMap((events) =>
      events.flatMap((event) => (event.type === "task.started" ? [event.owner.split("/")[0]] : [])),
    );
    expect(new Set(owners).size).toBe(2);
  });
});

/** In the order of the commits. */
async function countMostRunning(scene: Scene, ids: readonly string[]): Promise<number> {
  const { events } = await scene.rookery.store.readFeed({ after: 0, limit: MAX_PAGE });
  const steps = events.flatMap(({ text }) => {
    const event = JSON.parse(text) as LogEvent;
    if (!("taskId" in event) || !ids.includes(event.taskId)) return [];
    return event.type === "task.started" ? [1] : event.type === "task.ended" ? [-1] : [];
  });
  let now = 0;
  return Math.max(...steps.map((by) => (now += by)));
}

describe("a pipeline", () => {
  const PIPELINE = `
[merge]
gate = "test -e good"
[pipelines.careful]
stages = [
  { name = "code", agent = "robin" },
  { name = "check", run = "test -e good || { echo it is not good; exit 1; }", back_to = "code", tries = 2 },
  { name = "review", agent = "wren", prompt = "run: echo APPROVED", pass = "APPROVED", back_to = "code" },
  { name = "merge", merge = "squash" },
]
`;

  it("returns to an earlier stage with the output of the check, and then merges", async () => {
    await using s = await openScene({ toml: PIPELINE });
    s.run();
    const prompt = "Make it good\nrun: [ -e once ] && touch good; touch once";
    await s.tasks.start({ id: "piped", prompt, pipeline: "careful" });
    const done = await s.until("piped", "done", "failed");
    expect(done).toMatchObject({ status: "done", merge: { outcome: "merged", how: "squash", into: "main" } });
    expect(done.sessions.map(({ stage }) => stage)).toEqual(["code", "review"]);
    const ended = (await eventsOf(s, "piped")).filter((event) => event.type === "stage.ended");
    expect(ended.map(({ name, passed }) => `${name} ${passed}`)).toEqual([
      "code true",
      "check false",
      "code true",
      "check true",
      "review true",
      "merge true",
    ]);
    const { events } = await s.rookery.store.read({ sessionId: done.sessions[0]?.id ?? "" });
    const told = events.flatMap((event) => (event.type === "turn.started" ? [JSON.stringify(event.input)] : []));
    expect(told).toEqual([expect.stringContaining("Make it good"), expect.stringContaining("it is not good")]);
    expect(await s.repository.git("log", "-1", "--format=%s", "main")).toBe("Make it good");
    expect(await s.repository.git("ls-tree", "--name-only", "main")).toContain("good");
  });

  it("fails after the last attempt of a stage, and can be fixed and resumed by the user", async () => {
    await using s = await openScene({ toml: PIPELINE });
    s.run();
    await s.tasks.start({ id: "piped", prompt: "Make it bad\nrun: touch bad", pipeline: "careful" });
    const failed = await s.until("piped", "failed", "done");
    expect(failed).toMatchObject({ status: "failed", stage: "check", code: "stage_failed" });
    expect(failed.message).toMatch(/stage check failed after 2 attempts: .*it is not good/s);
    await s.repository.write(".rookery/worktrees/piped/good", "");
    await s.tasks.resume("piped");
    await s.until("piped", "done");
  });

  it("does not merge if the gate fails", async () => {
    await using s = await openScene({
      toml: `[pipelines.p]\nstages = [{ agent = "robin" }, { merge = "merge", gate = "echo never; false" }]\n`,
    });
    s.run();
    const before = await s.repository.git("rev-parse", "main");
    await s.tasks.start({ id: "gated", prompt: "run: touch x", pipeline: "p" });
    expect(await s.until("gated", "failed")).toMatchObject({ merge: { outcome: "gate_failed" } });
    expect(await s.repository.git("rev-parse", "main")).toBe(before);
    const output = (await eventsOf(s, "gated")).flatMap((event) => (event.type === "output.text" ? [event] : []));
    expect(output).toMatchObject([{ from: "gate", text: "never\n" }]);
  });

  it.each([
    ["an unknown pipeline", "other", /there is no pipeline "other"; configured pipelines: careful/],
    ["a back_to without an earlier stage", "bad", /back_to = "later" does not name an earlier stage/],
  ])("is rejected with a clear message for %s", async (_, pipeline, words) => {
    await using s = await openScene({
      toml: pipeline === "bad" ? `[pipelines.bad]\nstages = [{ run = "true", back_to = "later" }]\n` : PIPELINE,
    });
    await expect(s.tasks.start({ prompt: "x", pipeline })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(words) as string,
    });
  });
});

describe("merging and removing", () => {
  it("predicts and merges, and collects only merged worktrees", async () => {
    await using s = await openScene({ files: { shared: "one\n" } });
    s.run();
    for (const word of ["two", "three"]) await s.tasks.start({ id: word, prompt: `run: echo ${word} > shared` });
    await s.until("two", "done");
    await s.until("three", "done");
    await expect(s.tasks.remove("two")).rejects.toMatchObject({ code: "worktree_unmerged" });
    expect(await s.tasks.predictMerge("two")).toMatchObject({ outcome: "merged", dryRun: true, into: "main" });
    expect(await s.tasks.merge("two", { how: "squash" })).toMatchObject({ outcome: "merged", dryRun: false });
    expect(await s.repository.read("shared")).toBe("two\n");
    expect(await s.tasks.predictMerge("three")).toMatchObject({ outcome: "conflicts", conflicts: ["shared"] });
    expect(await s.tasks.merge("three")).toMatchObject({ outcome: "conflicts", conflicts: ["shared"] });
    expect(await s.repository.read("shared")).toBe("two\n");
    const swept = await s.tasks.collect({ quota: 0 });
    expect(swept.removed.map(({ id }) => id)).toEqual(["two"]);
    expect(swept.kept.map(({ id }) => id)).toEqual(["three"]);
    await s.tasks.remove("three", { force: true });
    expect((await s.tasks.list()).map(({ id }) => id)).toEqual(["two"]);
    expect(await s.repository.git("branch", "--format=%(refname:short)")).toBe("main");
    expect(await s.repository.git("worktree", "list", "--porcelain")).not.toContain(".rookery");
  });
});
