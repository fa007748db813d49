import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type { SessionEvent, TaskView } from "../src/domain/index.ts";
import { GO_ON, promptOf, type Errand } from "./fleet/model.ts";
import { openRealFleet } from "./fleet/scene.ts";

type Fleet = Awaited<ReturnType<typeof openRealFleet>>;

const ERRANDS: readonly Errand[] = [
  { id: "slow-claude", agent: "claude", file: "slow-claude.txt", text: "slowly, by claude\n", waits: true },
  { id: "slow-codex", agent: "codex", file: "slow-codex.txt", text: "slowly, by codex\n", waits: true },
  { id: "first", agent: "claude", file: "same.txt", text: "by claude\n" },
  { id: "second", agent: "codex", file: "same.txt", text: "by codex\n" },
  { id: "asks-claude", agent: "claude", file: "asked-claude.txt", text: "" },
  { id: "asks-codex", agent: "codex", file: "asked-codex.txt", text: "" },
];
const MINUTES = 60_000;

it(
  "runs Claude Code and Codex concurrently, and answers, stops, resumes and merges their tasks across a kill",
  { timeout: 4 * MINUTES },
  async () => {
    await using fleet = await openRealFleet(ERRANDS);
    const { tasks, repository } = fleet;
    for (const errand of ERRANDS) {
      const { id, agent, text } = errand;
      const permissions = text === "" ? "ask" : "all";
      await tasks.start({ id, agent, permissions, prompt: promptOf(errand), cwd: fleet.root });
    }

    // Both stall at the same time; the other tasks are queued.
    const slow = ["slow-claude", "slow-codex"];
    const natives = await Promise.all(slow.map((id) => thinking(fleet, id, 1)));
    expect((await tasks.list({ status: ["queued"] })).map(({ id }) => id).sort()).toEqual([
      "asks-claude",
      "asks-codex",
      "first",
      "second",
    ]);

    await fleet.kill();
    await fleet.start();
    expect(await Promise.all(slow.map((id) => thinking(fleet, id, 2)))).toEqual(natives);
    for (const id of slow) expect(await tasks.stop(id)).toMatchObject({ status: "stopped" });

    for (const id of ["asks-claude", "asks-codex"]) {
      const { waitingFor } = await until(fleet, id, ({ status }) => status === "waiting");
      const [request] = waitingFor;
      expect(existsSync(join(fleet.root, ".rookery", "worktrees", id, `asked-${id.slice(5)}.txt`))).toBe(false);
      const path = { id: request?.sessionId ?? "", requestId: request?.requestId ?? "" };
      const { error } = await fleet.client.POST("/v1/sessions/{id}/requests/{requestId}", {
        params: { path },
        body: { decision: "allow" },
      });
      expect(error).toBeUndefined();
      await done(fleet, id);
    }

    for (const [index, id] of slow.entries()) {
      await tasks.resume(id, { prompt: GO_ON });
      const resumed = await done(fleet, id);
      expect(resumed.sessions).toHaveLength(1);
      const last = (await connections(fleet, resumed)).at(-1);
      expect(last).toMatchObject({ nativeId: natives[index], how: "resumed" });
    }
    for (const id of ["first", "second"]) await done(fleet, id);

    expect(await tasks.merge("first", { how: "merge" })).toMatchObject({ outcome: "merged" });
    expect(await tasks.merge("slow-claude", { how: "squash" })).toMatchObject({ outcome: "merged" });
    expect(await tasks.merge("slow-codex", { how: "rebase" })).toMatchObject({ outcome: "merged" });
    expect(await tasks.merge("asks-claude", { how: "squash" })).toMatchObject({ outcome: "merged" });
    expect(await tasks.merge("asks-codex", { how: "squash" })).toMatchObject({ outcome: "merged" });
    const conflict = { outcome: "conflicts", conflicts: ["same.txt"] };
    expect(await tasks.predictMerge("second")).toMatchObject({ ...conflict, dryRun: true });
    expect(await tasks.merge("second")).toMatchObject(conflict);

    expect((await repository.git("log", "--first-parent", "--format=%s")).split("\n")).toEqual([
      "Please do the errand <asks-codex>.",
      "Please do the errand <asks-claude>.",
      "Please do the errand <slow-codex>.",
      "Please do the errand <slow-claude>.",
      "Merge task first: Please do the errand <first>.",
      "Initial commit",
    ]);
    for (const { file, text } of ERRANDS.filter(({ id }) => id !== "second")) {
      expect(await repository.read(file), file).toBe(text);
    }
    expect(await repository.git("status", "--porcelain")).toBe("");
    expect(await repository.git("fsck", "--full", "--strict", "--no-dangling", "--no-progress")).toBe("");
    const { kept } = await tasks.collect({ cwd: fleet.root, quota: 0 });
    expect(kept.map(({ id }) => id)).toEqual(["second"]);
    await fleet.stop();
    await vi.waitFor(() => expect(fleet.processes()).toEqual([]));
  },
);

/** Waits until the task has stalled this many times. Returns the program's own session id. */
async function thinking(fleet: Fleet, id: string, times: number): Promise<string | undefined> {
  const words = async () => (await textOf(fleet, await fleet.tasks.show(id))).split("Thinking").length - 1;
  await vi.waitFor(async () => expect(await words(), id).toBe(times), { timeout: MINUTES, interval: 100 });
  const view = await fleet.tasks.show(id);
  expect(view.status).toBe("running");
  const last = (await connections(fleet, view)).at(-1);
  expect(last?.how).toBe(times === 1 ? "new" : "resumed");
  return last?.nativeId;
}

function done(fleet: Fleet, id: string): Promise<TaskView> {
  return until(fleet, id, (view) => {
    if (view.status === "failed" || view.status === "stopped")
      throw new Error(`${id} is ${view.status}: ${view.message ?? ""}`);
    return view.status === "done";
  });
}

/** Checks again after each event of the task. */
async function until({ tasks }: Fleet, id: string, holds: (view: TaskView) => boolean): Promise<TaskView> {
  const signal = AbortSignal.timeout(MINUTES);
  for await (const _ of tasks.follow({ task: id, after: 0, signal })) {
    const view = await tasks.show(id);
    if (holds(view)) return view;
  }
  const { status, message = "" } = await tasks.show(id);
  throw new Error(`${id} is ${status} after a minute: ${message}`);
}

async function eventsOf({ client }: Fleet, { sessions }: TaskView): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (const { id } of sessions) {
    const { data } = await client.GET("/v1/sessions/{id}/events", { params: { path: { id } } });
    if (typeof data === "object") events.push(...(data.events as SessionEvent[]));
  }
  return events;
}

async function textOf(fleet: Fleet, view: TaskView): Promise<string> {
  const events = await eventsOf(fleet, view);
  return events.map((event) => (event.type === "message.delta" ? event.text : "")).join("");
}

async function connections(fleet: Fleet, view: TaskView) {
  return (await eventsOf(fleet, view)).flatMap((event) => (event.type === "agent.connected" ? [event] : []));
}
