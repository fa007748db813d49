import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId, type EventBody, type Store } from "../domain/index.ts";
import { systemClock } from "../stdx/index.ts";
import { openSqliteStore } from "../store/index.ts";
import { openStoreProcesses, type StoreProcesses } from "../store/sqlite/fixtures/processes.ts";
import { temporaryFolder } from "../testing/index.ts";
import { answerRequest } from "./answer.ts";
import { endStoredSession } from "./open.ts";
import { queueStoredInput } from "./queue-input.ts";
import { DONE, openScriptedSession, type ScriptedTurn } from "./test-scripted-session.ts";

/** The agent appends an event during each read of the log, and before each of the first `overtakes` attempts. */
function flooded(store: Store, overtakes: number): Store {
  let left = overtakes;
  const say = async (sessionId: string): Promise<void> => {
    const { head = 0, agent = "" } = (await store.summary(sessionId)) ?? {};
    const event = { type: "message.completed" as const, messageId: newId("msg"), text: "more" };
    const events = [{ ...event, at: new Date().toISOString(), agent }];
    await store.append({ sessionId, id: newId("app"), expectedHead: head, events });
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "read") {
        return async (query: Parameters<Store["read"]>[0]) => {
          const page = await target.read(query);
          await say(query.sessionId);
          return page;
        };
      }
      if (name === "append") {
        return async (append: Parameters<Store["append"]>[0]) => {
          left -= 1;
          if (left >= 0) await say(append.sessionId);
          return target.append(append);
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

it("denies and cancels requests beyond 100 that wait, and answers those that do", async () => {
  const request = { tool: "t", title: "t", kind: "other", input: {}, readOnly: false } as const;
  const results: string[] = [];
  await using scene = await openScriptedSession(async (turn) => {
    const permissions = Array.from({ length: 150 }, async (_, index) => {
      const decision = await turn.permit({ ...request, toolId: `t${index}` });
      results.push(decision.allowed ? "allowed" : decision.outcome);
    });
    const question = turn.ask({ message: "Which?" }).then(({ action }) => results.push(action));
    await Promise.all([...permissions, question]);
    return DONE;
  });
  const { outcome } = scene.session.prompt("go");
  let asked = 0;
  for await (const event of scene.store.follow({ sessionId: scene.session.id, after: 0 })) {
    if (event.type === "permission.requested") {
      asked += 1;
      const answer = { decision: "allow" as const };
      await scene.session.answer(event.requestId, answer);
    }
    if (asked === 100) break;
  }
  expect(await outcome).toEqual(DONE);
  const count = (result: string) => results.filter((each) => each === result).length;
  expect([count("allowed"), count("denied"), count("cancel")]).toEqual([100, 50, 1]);
});

it("appends at most 1,000 events at once, so that a flood of one session does not keep others waiting", async () => {
  const sizes: number[] = [];
  const started = (toolId: string): EventBody => ({
    ...{ type: "tool.started", toolId, name: "t", title: "t", kind: "other", input: null },
  });
  await using scene = await openScriptedSession((turn) => {
    for (let index = 0; index < 5_000; index += 1) turn.log.record(started(`t${index}`));
    return Promise.resolve(DONE);
  });
  const append = scene.store.append.bind(scene.store);
  scene.store.append = (what) => {
    sizes.push(what.events.length);
    return append(what);
  };
  expect(await scene.session.prompt("go").outcome).toEqual(DONE);
  expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThan(10_000); // each call is ended too
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_001); // with the end of the turn
});

describe("a log that another process keeps appending to", () => {
  const asking: ScriptedTurn = async (turn) => {
    const decision = await turn.permit({
      toolId: "t1",
      tool: "t",
      title: "t",
      kind: "other",
      input: {},
      readOnly: false,
    });
    expect(decision).toEqual({ allowed: true });
    return DONE;
  };

  it("accepts an answer although the log grows faster than it is read", async () => {
    await using scene = await openScriptedSession(asking);
    const { outcome } = scene.session.prompt("go");
    for await (const { type } of scene.store.follow({ sessionId: scene.session.id, after: 0 })) {
      if (type === "permission.requested") break;
    }
    const answer = { decision: "allow" as const };
    const options = { sessionId: scene.session.id, requestId: "r1", answer, clock: systemClock };
    await answerRequest(flooded(scene.store, 50), options);
    expect(await outcome).toEqual(DONE);
    await expect(answerRequest(scene.store, options)).rejects.toMatchObject({ code: "request_resolved" });
  });

  it("accepts an input and a close", async () => {
    await using scene = await openScriptedSession(() => Promise.resolve(DONE));
    await queueStoredInput(flooded(scene.store, 50), { sessionId: scene.session.id, input: "hi", clock: systemClock });
    const { clock, session } = scene;
    await endStoredSession({ store: flooded(scene.store, 50), clock, owner: "other", attended: false }, session.id);
    const types = (await scene.events()).map(({ type }) => type);
    expect(types.filter((type) => type === "input.queued" || type === "session.closed")).toHaveLength(2);
  });
});

function countingAppends(store: Store) {
  let appends = 0;
  const counting = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (typeof name === "string" && name.startsWith("append")) appends += 1;
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
  return { store: counting, appends: () => appends };
}

describe("a log that two other processes write to as fast as they can", () => {
  let processes: StoreProcesses;
  beforeAll(async () => {
    processes = await openStoreProcesses();
  });
  afterAll(() => processes[Symbol.dispose]());

  const opened: EventBody = { type: "session.opened", cwd: "/", backend: "acp", permissions: "ask" };
  const request = { toolId: "t1", tool: "t", title: "t", kind: "other", input: {} } as const;
  const COUNT = 20;
  const requestIds = Array.from({ length: COUNT }, (_, index) => `r${index + 1}`);

  it("accepts answers, inputs and a close at the first attempt", { timeout: 60_000 }, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "rookery.db");
    await using store = await openSqliteStore({ path });
    const sessionId = newId("ses");
    const asked = requestIds.map((requestId): EventBody => ({ type: "permission.requested", requestId, ...request }));
    const events = [opened, ...asked].map((body) => ({ ...body, at: new Date().toISOString(), agent: "robin" }));
    const { head } = await store.append({ sessionId, id: newId("app"), expectedHead: 0, events });
    await store.acquireLease({ sessionId, owner: "elsewhere", now: Date.now(), until: Date.now() + 600_000 });

    const writers = ["a", "b"].map((name) => processes.start("contend", { path, sessionId, name, count: 1e9 }));
    for (const writer of writers) expect(await writer.nextMessage()).toBe("ready");
    for (const writer of writers) writer.sendLine("go");
    for await (const { seq } of store.follow({ sessionId, after: head })) if (seq > head + 100) break;

    const options = { sessionId, answer: { decision: "allow" as const }, clock: systemClock };
    const counted = countingAppends(store);
    for (const requestId of requestIds) await answerRequest(counted.store, { ...options, requestId });
    await queueStoredInput(counted.store, { sessionId, input: "hi", clock: systemClock });
    await endStoredSession(
      { store: counted.store, clock: systemClock, owner: "other", attended: false },
      sessionId,
      "over",
    );
    expect(counted.appends()).toBe(COUNT + 2);
    const { head: last } = (await store.summary(sessionId)) ?? { head: 0 };
    expect(last).toBeGreaterThan(head + 100 + COUNT);
    for (const writer of writers) await writer.kill();
    expect(await store.summary(sessionId)).toMatchObject({ status: "closed", waitingFor: [] });
  });
});
