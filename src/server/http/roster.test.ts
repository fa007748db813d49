import { afterEach, beforeEach, expect, it } from "vitest";
import {
  applyTask,
  buildTaskView,
  emptySummary,
  newId,
  summarize,
  type EventDraft,
  type LogEvent,
  type SessionSummary,
  type TaskEventDraft,
  type TaskSpec,
  type TaskState,
} from "../../domain/index.ts";
import { MAX_ROSTER_TEXT, readRoster, type Roster } from "./roster.ts";
import { openHttp, writeSession, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp();
});
afterEach(() => scene[Symbol.asyncDispose]());

const AT = "2026-01-01T00:00:00.000Z";
const NOW = new Date("2026-01-02T00:00:00.000Z");

function taskSpec(changes: Partial<TaskSpec> = {}): TaskSpec {
  return {
    prompt: "do it",
    title: "do it",
    repository: "/repo",
    agent: "a",
    provider: "anthropic",
    priority: 0,
    needs: [],
    retries: 0,
    budget: {},
    stages: [{ kind: "agent", name: "work", agent: "a", tries: 1 }],
    limits: {},
    ...changes,
  };
}

async function writeTask(
  taskId: string,
  spec: TaskSpec = taskSpec(),
  more: readonly TaskEventDraft[] = [],
): Promise<void> {
  const { store } = scene;
  const created: TaskEventDraft = { type: "task.created", at: AT, spec };
  await store.appendTask({ taskId, id: newId("app"), expectedHead: 0, events: [created] });
  if (more.length > 0) await store.appendTask({ taskId, id: newId("app"), expectedHead: 1, events: more });
}

async function openSession(changes: Partial<Extract<EventDraft, { type: "session.opened" }>> = {}): Promise<string> {
  const sessionId = newId("ses");
  const opened: EventDraft = {
    type: "session.opened",
    at: AT,
    agent: "a",
    backend: "api",
    cwd: "/tmp",
    permissions: "ask",
    ...changes,
  };
  await scene.store.append({ sessionId, id: newId("app"), expectedHead: 0, events: [opened] });
  return sessionId;
}

async function append(sessionId: string, expectedHead: number, ...events: readonly EventDraft[]): Promise<void> {
  await scene.store.append({ sessionId, id: newId("app"), expectedHead, events });
}

const turnStarted: EventDraft = {
  type: "turn.started",
  at: AT,
  agent: "a",
  turnId: "t",
  input: [{ type: "text", text: "go" }],
};

const getRoster = async (): Promise<Roster> => (await scene.get("/v1/roster")).json as unknown as Roster;

/** What a page does: applies the events of the feed to a snapshot, and skips those that it has. */
class Reader {
  readonly sessions: Map<string, SessionSummary>;
  readonly tasks: Map<string, TaskState>;

  constructor({ sessions, tasks }: Roster) {
    this.sessions = new Map(sessions.map((summary) => [summary.id, summary]));
    this.tasks = new Map(tasks.map((task) => [task.id, task]));
  }

  apply(event: LogEvent): void {
    if ("taskId" in event) {
      const before = this.tasks.get(event.taskId);
      if (event.seq > (before?.head ?? 0)) this.tasks.set(event.taskId, applyTask(before, event));
    } else {
      const before = this.sessions.get(event.sessionId) ?? emptySummary(event.sessionId);
      if (event.seq > before.head) this.sessions.set(event.sessionId, summarize(before, [event]));
    }
  }

  view(taskId: string) {
    const state = this.tasks.get(taskId);
    if (state === undefined) throw new Error(`no task ${taskId}`);
    const findSession = (id: string) => this.sessions.get(id);
    const findTask = (id: string) => this.tasks.get(id);
    return JSON.parse(JSON.stringify(buildTaskView(state, { findSession, findTask, now: NOW.getTime() }))) as unknown;
  }
}

async function readEvents(after: number): Promise<LogEvent[]> {
  const { json } = await scene.get(`/v1/events?after=${after}`);
  return (json.events as unknown as { event: LogEvent }[]).map(({ event }) => event);
}

it("continues from the snapshot to the state of the server, even if events are applied twice", async () => {
  const first = await openSession({ task: "one" });
  await writeTask("one", taskSpec(), [
    { type: "task.started", at: AT, run: 1, owner: "o" },
    { type: "stage.started", at: AT, stage: 0, name: "work", attempt: 1, sessionId: first },
  ]);
  await writeTask("two", taskSpec({ needs: ["one"] }));
  const roster = await getRoster();
  await append(first, 1, turnStarted, {
    type: "permission.requested",
    at: AT,
    agent: "a",
    turnId: "t",
    requestId: "req_1",
    toolId: "call",
    tool: "bash",
    kind: "execute",
    title: "Run ls",
    input: {},
  });
  await writeTask("three");
  const reader = new Reader(roster);
  for (const event of [...(await readEvents(0)), ...(await readEvents(roster.position))]) reader.apply(event);
  for (const id of ["one", "two", "three"]) {
    const { ranMs: _, ...shown } = (await scene.get(`/v1/tasks/${id}`)).json as unknown as { ranMs: number };
    expect(reader.view(id)).toMatchObject(shown);
  }
  expect(reader.view("one")).toMatchObject({
    status: "waiting",
    waitingFor: [{ sessionId: first }],
    lastLine: "Run ls",
  });
  expect(reader.view("two")).toMatchObject({ message: "needs one, which waits for an answer" });
  const { sessions, tasks } = await getRoster();
  expect([...reader.sessions.values()]).toEqual(sessions);
  expect(new Set(reader.tasks.values())).toEqual(new Set(tasks));
});

it("reports the position before the lists", async () => {
  const { store } = scene;
  await writeSession(store, 3);
  let late: string | undefined;
  const racing = Object.create(store, {
    list: {
      value: async (query: Parameters<typeof store.list>[0]) => {
        late ??= await writeSession(store, 1);
        return store.list(query);
      },
    },
    readFeed: { value: store.readFeed.bind(store) },
    tasks: { value: store.tasks.bind(store) },
  }) as typeof store;
  const { position, sessions } = await readRoster(racing, NOW);
  expect(position).toBe(4);
  expect(sessions.map(({ id }) => id)).toContain(late);
});

it("lists unfinished sessions and tasks beyond the limit, and reports that others are left out", async () => {
  const running = await openSession();
  await append(running, 1, turnStarted);
  const copying = await openSession({ copying: true });
  const ofTask = await openSession({ task: "queued" });
  await writeTask("queued", taskSpec(), [
    { type: "stage.started", at: AT, stage: 0, name: "work", attempt: 1, sessionId: ofTask },
  ]);
  const over = await openSession();
  await writeTask("over", taskSpec(), [{ type: "task.ended", at: AT, outcome: "done" }]);
  const newest = await openSession();
  await writeTask("newest", taskSpec(), [{ type: "task.ended", at: AT, outcome: "failed" }]);
  const short = await readRoster(scene.store, NOW, 1);
  expect(short.truncated).toBe(true);
  expect(short.tasks.map(({ id }) => id)).toEqual(["newest", "queued"]);
  expect(short.sessions.map(({ id }) => id)).toEqual([newest, ofTask, copying, running]);
  const whole = await getRoster();
  expect(whole.truncated).toBe(false);
  expect(whole.sessions.map(({ id }) => id)).toContain(over);
});

it("lists a removed task that a queued one needs", async () => {
  await writeTask("gone", taskSpec(), [{ type: "task.removed", at: AT }]);
  await writeTask("queued", taskSpec({ needs: ["gone", "unknown"] }));
  const { tasks } = await getRoster();
  expect(tasks.map(({ id, removed }) => [id, removed])).toContainEqual(["gone", true]);
});

it("cuts long texts, and marks the task", async () => {
  const prompt = "🦜".repeat(MAX_ROSTER_TEXT);
  await writeTask("long", taskSpec({ prompt }));
  await writeTask("short");
  const [short, long] = (await getRoster()).tasks;
  expect(short).not.toHaveProperty("abridged");
  expect(long).toMatchObject({ abridged: true });
  expect(long?.spec.prompt).toHaveLength(MAX_ROSTER_TEXT);
  expect(long?.spec.prompt.isWellFormed()).toBe(true);
});

it("refuses unknown parameters and clients without the token", async () => {
  expect(await scene.get("/v1/roster?limit=1")).toMatchObject({ status: 400, json: { code: "input_invalid" } });
  const stranger = await fetch(`${scene.server.url}/v1/roster`);
  expect(stranger.status).toBe(401);
});
