import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type { SessionEvent, Store } from "../domain/index.ts";
import { Rookery } from "../rookery.ts";
import { openSqliteStore } from "../store/index.ts";
import { call, say, startModelServer } from "../testing/index.ts";
import { openScene } from "./test-scene.ts";

type Scene = Awaited<ReturnType<typeof openScene>>;

const TOLD = "run: touch told";
/** Runs until the test creates the file `go`. */
const WORK = "run: until [ -e go ]; do sleep 0.02; done";

function letEnd({ repository }: Scene, id: string): Promise<void> {
  return writeFile(join(repository.path, ".rookery/worktrees", id, "go"), "");
}

async function eventsOf({ rookery }: Scene, sessionId: string): Promise<readonly SessionEvent[]> {
  return (await rookery.store.read({ sessionId })).events;
}

/** Waits until the turn of the task runs, and returns the id of its session. */
async function working(s: Scene, id: string): Promise<string> {
  return vi.waitFor(async () => {
    const [session] = (await s.tasks.show(id)).sessions;
    const events = await eventsOf(s, session?.id ?? "");
    expect(events.map(({ type }) => type)).toContain("process.started");
    return session?.id ?? "";
  }, 20_000);
}

it("delivers user input to the built-in agent during its turn", async () => {
  const model = await startModelServer([call("bash", { command: "true" }), say("As you wish.")]);
  await using s = await openScene({
    toml: '[agents.own]\nbackend = "api"\nmodel = "anthropic/x"\n',
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" },
  });
  s.run();
  await s.tasks.start({ id: "t", prompt: "work", agent: "own" });
  await s.until("t", "waiting");
  const { waitingFor } = await s.tasks.show("t");
  const { sessionId = "", requestId = "" } = waitingFor[0] ?? {};
  await s.rookery.tell(sessionId, "rather so", { deliver: "steer" });
  await s.rookery.answer(sessionId, requestId, { decision: "allow" });
  await s.until("t", "done");
  const types = (await eventsOf(s, sessionId)).map(({ type }) => type);
  expect(types.filter((type) => type === "input.delivered" || type === "turn.started")).toEqual([
    "turn.started",
    "input.delivered",
  ]);
  await model.close();
});

it("runs user input for a program as a separate turn, which the stage waits for", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "t", prompt: WORK });
  await s.rookery.tell(await working(s, "t"), TOLD, { deliver: "steer" });
  await letEnd(s, "t");
  await s.until("t", "done");
  expect(await s.repository.git("ls-tree", "--name-only", "rookery/t")).toContain("told");
});

it("keeps queued user input while the task is stopped, and runs it after the resume", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "t", prompt: WORK });
  const sessionId = await working(s, "t");
  await s.rookery.tell(sessionId, TOLD);
  await s.tasks.stop("t");
  expect((await eventsOf(s, sessionId)).filter(({ type }) => type === "turn.started")).toHaveLength(1);
  await letEnd(s, "t");
  await s.tasks.resume("t");
  await s.until("t", "done");
  expect(await s.repository.git("ls-tree", "--name-only", "rookery/t")).toContain("told");
});

it("runs user input first if it arrives just before the task's prompt", async () => {
  await using s = await openScene();
  await using real = await openSqliteStore({ path: join(s.home, "rookery.db") });
  const store = telling(real, "run: until [ -e go ]; do sleep 0.02; done; touch told", () => void letEnd(s, "t"));
  await using rookery = await Rookery.open({ env: s.env, cwd: s.repository.path, store });
  await s.tasks.start({ id: "t", prompt: "run: touch own" });
  await rookery.runTasks({ only: "t" });
  expect(await s.tasks.show("t")).toMatchObject({ status: "done" });
  const files = await s.repository.git("ls-tree", "--name-only", "rookery/t");
  expect(files).toContain("told");
  expect(files).toContain("own");
});

/** Wraps a store: queues `input` in the session, and waits for its turn, while the task records that it starts its own turn. */
function telling(real: Store, input: string, prompted: () => void): Store {
  const tell = async (sessionId: string): Promise<void> => {
    const at = new Date().toISOString();
    const queued = { type: "input.queued" as const, inputId: "inp_1", input: [{ type: "text" as const, text: input }] };
    const { head = 0, agent = "" } = (await real.summary(sessionId)) ?? {};
    await real.append({ sessionId, id: "told", expectedHead: head, events: [{ ...queued, at, agent }] });
    for await (const { type } of real.follow({ sessionId, after: head })) if (type === "turn.started") return;
  };
  const appendTask: Store["appendTask"] = async (append) => {
    const [event] = append.events;
    const begins = event?.type === "stage.started" && event.turnId !== undefined;
    if (begins && event.sessionId !== undefined) await tell(event.sessionId);
    const appended = await real.appendTask(append);
    if (begins) setTimeout(prompted, 50);
    return appended;
  };
  return new Proxy(real, {
    get(target, name) {
      if (name === "appendTask") return appendTask;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
