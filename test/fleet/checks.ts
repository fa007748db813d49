/** Checks the result of the story of `examples/fleet`, which must not depend on kills of the server. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { MAX_PAGE, type LogEvent, type SessionEvent, type Store, type TaskEvent } from "../../src/domain/index.ts";
import { openSqliteStore } from "../../src/store/index.ts";
import type { Fleet, StoryOutcome } from "./scene.ts";
import { HTTP_STORY, type StoryResult } from "./story-result.ts";

const MAX_RUNNING = 4;

const BROUGHT = [".gitignore", "README.md", "check.mjs", "rookery.toml"];

/** The stages of the release pipeline. An interrupted stage ends once, later. */
const RELEASE = ["coder", "check: not passed", "coder", "check", "reviewer", "merge"];

const STATUS: Readonly<Record<string, string>> = {
  audit: "done",
  changelog: "done",
  deploy: "failed",
  everyone: "done",
  guide: "done",
  languages: "done",
  licence: "done",
  name: "done",
  release: "done",
};

/** Call this after the server has stopped. */
export async function expectFinalState(fleet: Fleet, told: StoryOutcome): Promise<void> {
  expectReport(told);
  await expectStoryResult(fleet, HTTP_STORY);
  await using store = await openSqliteStore({ path: join(fleet.home, "rookery.db") });
  const positions = (await wholeFeed(store)).map(({ position }) => position);
  expect(told.events.map(({ position }) => position)).toEqual(positions.slice(0, told.events.length));
}

/** Every event that the client saw is in the log, at the same position. */
export async function expectNothingLost(store: Store, { events }: StoryOutcome): Promise<void> {
  const kept = new Map((await wholeFeed(store)).map(({ position, event }) => [position, event]));
  expect(events.length).toBeGreaterThan(0);
  for (const { position, event } of events) expect(kept.get(position), String(position)).toEqual(event);
}

/** Call this after the server has stopped. */
export async function expectStoryResult(fleet: Fleet, result: StoryResult): Promise<void> {
  await expectRepository(fleet, result);
  expectWork(fleet, result);
  await using store = await openSqliteStore({ path: join(fleet.home, "rookery.db") });
  await expectStoryLog(store, result);
  expectNothingLeft(fleet);
}

function expectReport({ seen }: StoryOutcome): void {
  expect(Object.fromEntries(seen.views.map(({ id, status }) => [id, status]))).toEqual(STATUS);
  expect(seen.refused).toMatchObject({ outcome: "conflicts", conflicts: ["hello.mjs"] });
  expect(seen.nothing.outcome).toBe("nothing");
  expect(seen.resumed.worktree?.path).toBe(seen.stopped.worktree?.path);
  expect(seen.resumed.sessions).toEqual(seen.stopped.sessions);
  expect(seen.collected.kept.map(({ id }) => id)).toEqual(HTTP_STORY.kept);
}

async function expectRepository(fleet: Fleet, { history, merged, tree, kept }: StoryResult): Promise<void> {
  const { git, repository } = fleet;
  const subjects = await git("log", "--first-parent", "--format=%p|%s", "main");
  const shown = subjects.split("\n").map((line) => {
    const [parents = "", subject] = line.split("|");
    return `${parents === "" ? 1 : parents.split(" ").length} ${subject ?? ""}`;
  });
  expect(shown).toEqual(history);
  const commits = async (...how: string[]) => (await git("log", ...how, "--format=%H %s", "main")).split("\n");
  const own = new Set(await commits("--first-parent"));
  const others = (await commits()).filter((commit) => !own.has(commit)).map((commit) => commit.replace(/^\S+ /, ""));
  expect(others.sort()).toEqual(merged);
  const files = (await git("ls-tree", "-r", "--name-only", "main")).split("\n");
  expect(files).toEqual([...BROUGHT, ...Object.keys(tree)].sort());
  for (const [file, text] of Object.entries(tree)) {
    expect(await git("show", `main:${file}`), file).toBe(text);
    expect(readFileSync(join(repository, file), "utf8").trimEnd(), file).toBe(text);
  }
  expect(await git("status", "--porcelain")).toBe("");
  expect(await git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
  expect(await git("fsck", "--full", "--strict", "--no-dangling", "--no-progress")).toBe("");
  expect((await git("branch", "--list", "--format=%(refname:short)")).split("\n")).toEqual([
    "main",
    ...kept.map((id) => `rookery/${id}`),
  ]);
  const worktrees = (await git("worktree", "list", "--porcelain"))
    .split("\n")
    .filter((line) => /^worktree /.test(line));
  const place = join(repository, ".rookery", "worktrees");
  expect(worktrees).toEqual([repository, ...kept.map((id) => join(place, id))].map((path) => `worktree ${path}`));
  expect(listed(place)).toEqual(kept);
  expect(listed(join(repository, ".rookery", "merging"))).toEqual([]);
  const gitFiles = readdirSync(join(repository, ".git"), { recursive: true, encoding: "utf8" });
  expect(gitFiles.filter((file) => /\.lock|\.new$/.test(file))).toEqual([]);
}

function expectWork({ notes }: Fleet, { ledger }: StoryResult): void {
  const lines = readFileSync(join(notes, "ledger"), "utf8").split("\n").slice(0, -1);
  expect(lines.sort()).toEqual(ledger);
}

/** Every log is dense, every turn and task ends as often as expected, and no limit was exceeded. */
export async function expectStoryLog(store: Store, result: StoryResult): Promise<void> {
  const feed = await wholeFeed(store);
  for (const id of [...Object.keys(STATUS), "experiment"]) {
    const { events, head } = await store.readTask({ taskId: id, limit: MAX_PAGE });
    expect(
      events.map(({ seq }) => seq),
      id,
    ).toEqual(upTo(head));
    expectTaskEvents(id, events, result);
    const done: string[] = [];
    for (const session of await store.list({ task: id })) {
      const log = await store.read({ sessionId: session.id, limit: MAX_PAGE });
      expect(
        log.events.map(({ seq }) => seq),
        session.id,
      ).toEqual(upTo(log.head));
      done.push(...expectTurns(log.events));
    }
    expect(done.sort(), id).toEqual(result.done[id]);
  }
  const events = feed.map(({ event }) => event);
  const stages = events.flatMap((event) => (event.type === "stage.ended" && event.taskId === "release" ? [event] : []));
  expect(stages.map(({ name, passed }) => `${name}${passed ? "" : ": not passed"}`)).toEqual(RELEASE);
  expect(countMostRunning(events)).toBe(MAX_RUNNING);
  expect(feed.map(({ position }) => position)).toEqual(upTo(feed.length));
}

/** The task is created once, merged at most once, and ends as often as expected. */
function expectTaskEvents(id: string, events: readonly TaskEvent[], { resumed }: StoryResult): void {
  const count = (holds: (event: TaskEvent) => boolean) => events.filter(holds).length;
  expect(
    count(({ type }) => type === "task.created"),
    id,
  ).toBe(1);
  expect(
    count((event) => event.type === "merge.ended" && event.outcome === "merged"),
    id,
  ).toBeLessThan(2);
  expect(
    count(({ type }) => type === "task.ended"),
    id,
  ).toBe(resumed.includes(id) ? 2 : 1);
}

/** Every turn ends once, before the next one starts. Returns the agents of the turns that are done. */
function expectTurns(events: readonly SessionEvent[]): string[] {
  const done: string[] = [];
  let running: string | undefined;
  for (const event of events) {
    if (event.type === "turn.started") {
      expect(running, `${event.sessionId} ${event.seq}`).toBeUndefined();
      running = event.turnId;
    }
    if (event.type !== "turn.ended") continue;
    expect(event.turnId, `${event.sessionId} ${event.seq}`).toBe(running);
    running = undefined;
    if (event.outcome.status === "done") done.push(event.agent);
  }
  expect(running).toBeUndefined();
  return done;
}

function countMostRunning(events: readonly LogEvent[]): number {
  const running = new Set<string>();
  let most = 0;
  for (const event of events) {
    if (event.type === "task.started") {
      expect(running.has(event.taskId), `${event.taskId} was claimed twice`).toBe(false);
      running.add(event.taskId);
    }
    if (event.type === "task.ended" || event.type === "task.queued") running.delete(event.taskId);
    most = Math.max(most, running.size);
  }
  expect(running.size).toBe(0);
  return most;
}

async function wholeFeed(store: Store): Promise<{ position: number; event: LogEvent }[]> {
  const all: { position: number; event: LogEvent }[] = [];
  for (;;) {
    const { events, head } = await store.readFeed({ after: all.at(-1)?.position ?? 0, limit: MAX_PAGE });
    all.push(...events.map(({ position, text }) => ({ position, event: JSON.parse(text) as LogEvent })));
    if (events.length === 0 || all.at(-1)?.position === head) return all;
  }
}

function expectNothingLeft({ home, processes }: Fleet): void {
  expect(processes()).toEqual([]);
  expect(existsSync(join(home, "server.json"))).toBe(false);
  expect(listed(join(home, "owners"))).toEqual([]);
  expect(listed(join(home, "ports"))).toEqual([]);
}

/** Processes of a killed server end soon after the next server has started. */
export async function expectSwept({ processes }: Fleet): Promise<void> {
  const isDead = (owner: string) => !existsSync(`/proc/${owner.split(".")[0] ?? ""}`);
  const ofTheDead = () => processes().filter(({ owner }) => owner !== undefined && isDead(owner));
  await vi.waitFor(() => expect(ofTheDead()).toEqual([]));
}

function listed(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function upTo(head: number): number[] {
  return Array.from({ length: head }, (_, index) => index + 1);
}
