import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId, type EventBody, type EventDraft, type Store, type TaskEventBody } from "../domain/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { createTask } from "../store/contract/scene.ts";
import { ProcessTelemetry } from "./process-telemetry.ts";
import type { Span } from "./span.ts";

/** Processes share one store; each has its own telemetry. */
class TestProcess implements AsyncDisposable {
  readonly spans: Span[] = [];
  readonly #telemetry: ProcessTelemetry;

  constructor(store: Store) {
    this.#telemetry = new ProcessTelemetry({ store, countChildren: () => 0, onSpan: (span) => this.spans.push(span) });
  }

  get store(): Store {
    return this.#telemetry.store;
  }

  /** Takes a lease that expires at once, so that the other process can take it too. */
  async take(id: string): Promise<void> {
    clockOfLeases += 2;
    await this.store.acquireLease({ sessionId: id, owner: "o", now: clockOfLeases, until: clockOfLeases + 1 });
  }

  /** Appends events, one second apart. */
  async write(sessionId: string, turnId: string | undefined, ...bodies: EventBody[]): Promise<void> {
    const expectedHead = (await this.store.summary(sessionId))?.head ?? 0;
    const events = bodies.map((body): EventDraft => ({
      ...body,
      agent: "a",
      at: nextSecond(),
      ...(turnId && { turnId }),
    }));
    await this.store.append({ sessionId, id: newId("app"), expectedHead, events });
    await this.#telemetry.settled();
  }

  async writeTask(taskId: string, ...bodies: TaskEventBody[]): Promise<void> {
    const events = bodies.map((body) => ({ ...body, at: nextSecond() }));
    await this.store.appendTaskAtHead({ taskId, id: newId("app"), decide: () => events });
    await this.#telemetry.settled();
  }

  names(): string[] {
    return this.spans.map(({ name }) => name);
  }

  metric(name: string): unknown {
    return this.#telemetry.meter.collect().find((family) => family.name === name)?.points;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#telemetry[Symbol.dispose]();
    return Promise.resolve();
  }
}

let clockOfLeases = 0;
let clock: number;
const nextSecond = (): string => new Date((clock += 1_000)).toISOString();

let store: Store;
let one: TestProcess;
let other: TestProcess;
beforeEach(() => {
  clock = Date.parse("2026-01-01T00:00:00.000Z");
  store = openMemoryStore();
  one = new TestProcess(store);
  other = new TestProcess(store);
});
afterEach(async () => {
  await one[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

const S = "ses_00000000000000000000000001";
const opened = (more: object = {}): EventBody => ({
  type: "session.opened",
  cwd: "/",
  backend: "api",
  model: "google/gemini-3",
  permissions: "all",
  ...more,
});
const started: EventBody = { type: "turn.started", input: [] };
const toolStarted = (toolId: string): EventBody => ({
  ...{ type: "tool.started", toolId, name: "bash", title: "bash", kind: "execute", input: {} },
});
const toolEnded = (toolId: string): EventBody => ({ type: "tool.ended", toolId, outcome: "failed", text: "" });
const said = (text: string, toolCalls: { toolId: string; name: string; input: unknown }[] = []): EventBody => ({
  ...{ type: "message.completed", messageId: `msg_${text}`, text, toolCalls },
});
const used: EventBody = { type: "usage.reported", model: "google/gemini-3", inputTokens: 10, outputTokens: 5 };
const done: EventBody = { type: "turn.ended", outcome: { status: "done" } };

describe("spans of a turn", () => {
  it("are bounded, whatever names, ids and number of calls a program reports", async () => {
    const endless = "x".repeat(100_000);
    const call = (toolId: string): EventBody => ({ ...toolStarted(toolId), name: endless }) as EventBody;
    const ids = Array.from({ length: 1_500 }, (_, index) => `t${index}`);
    await one.write(S, undefined, opened({ backend: "acp" }));
    await one.take(S);
    await one.write(S, "trn_1", started, call(endless), ...ids.map(toolStarted));
    await one.write(S, "trn_1", toolEnded(endless), ...ids.map(toolEnded), done);
    expect(one.spans).toHaveLength(1_000 + 1);
    expect(JSON.stringify(one.spans[0]).length).toBeLessThan(2_000);
  });

  it("continue in another process with the same ids and the first start", async () => {
    await one.write(S, undefined, opened());
    await one.take(S);
    await one.write(S, "trn_1", started, said("a", [{ toolId: "t1", name: "bash", input: {} }]), used);
    await one.write(S, "trn_1", toolStarted("t1"));
    expect(one.names()).toEqual(["chat gemini-3"]);
    await other.take(S);
    await other.write(S, "trn_1", toolEnded("t1"), said("b"), used, done);
    expect(other.names()).toEqual(["execute_tool bash", "chat gemini-3", "invoke_agent a"]);
    const [tool, chat, turn] = other.spans;
    const [earlier] = one.spans;
    expect(new Set([...one.spans, ...other.spans].map(({ traceId }) => traceId)).size).toBe(1);
    expect([earlier?.parentSpanId, tool?.parentSpanId, chat?.parentSpanId]).toEqual(Array(3).fill(turn?.spanId));
    expect(new Set([earlier, tool, chat, turn].map((span) => span?.spanId)).size).toBe(4);
    const at = (second: number) => Date.parse("2026-01-01T00:00:00.000Z") + second * 1_000;
    expect([turn?.start, turn?.end]).toEqual([at(2), at(9)]);
    expect([earlier?.start, earlier?.end, tool?.start, tool?.end]).toEqual([at(2), at(3), at(5), at(6)]);
    expect([chat?.start, chat?.end]).toEqual([at(6), at(7)]);
    expect(turn?.attributes).toMatchObject({ "gen_ai.provider.name": "gcp.gemini", "gen_ai.usage.input_tokens": 20 });
    expect(tool?.error).toEqual({ type: "failed" });
    expect(other.metric("rookery.turns.ended")).toEqual([{ labels: { outcome: "done" }, value: 1 }]);
    expect(other.metric("rookery.turns.running")).toEqual([{ labels: {}, value: 0 }]);
    expect(one.metric("rookery.turns.running")).toEqual([{ labels: {}, value: 1 }]); // it does not know of the end
  });

  it("are not made for sessions that another process drives", async () => {
    await one.write(S, undefined, opened());
    await one.take(S);
    await one.write(S, "trn_1", started);
    const resolved = { type: "permission.resolved", requestId: "r1", decision: "allow", scope: "once" } as const;
    await other.write(S, "trn_1", { ...resolved, by: "person" });
    expect(other.metric("rookery.turns.running")).toEqual([{ labels: {}, value: 0 }]);
    expect(other.metric("rookery.events")).toEqual([{ labels: { log: "session" }, value: 1 }]);
  });

  it("have the error of a failed turn and of its model call", async () => {
    await one.write(S, undefined, opened());
    await one.take(S);
    const outcome = { status: "failed", code: "provider_auth", message: "the key is wrong" } as const;
    await one.write(S, "trn_1", started, { type: "turn.ended", outcome });
    expect(one.spans.map(({ name, error }) => [name, error])).toEqual([
      ["chat gemini-3", { type: "provider_auth" }],
      ["invoke_agent a", { type: "provider_auth" }],
    ]);
  });

  it("of a sub-agent are below the call that started it, in the same trace", async () => {
    const child = "ses_00000000000000000000000002";
    await one.write(S, undefined, opened());
    await one.take(S);
    await one.write(S, "trn_1", started, said("a", [{ toolId: "t1", name: "bash", input: {} }]), toolStarted("t1"));
    await one.write(S, "trn_1", { type: "subagent.started", childSessionId: child, title: "c", toolId: "t1" });
    await one.write(child, undefined, opened({ parent: S, depth: 1 }));
    await one.take(child);
    await one.write(child, "trn_2", started, done);
    await one.write(S, "trn_1", toolEnded("t1"), done);
    const [ofChild, ofParent] = one.spans.filter(({ operation }) => operation === "invoke_agent");
    const tool = one.spans.find(({ operation }) => operation === "execute_tool");
    expect(ofChild?.parentSpanId).toBe(tool?.spanId);
    expect(ofChild?.traceId).toBe(ofParent?.traceId);
  });
});

describe("spans of a task", () => {
  it("form one trace with its stages and turns, even if another process continues it", async () => {
    await createTask(store, "t");
    await one.take("t");
    await one.writeTask("t", { type: "task.started", run: 1, owner: "one" });
    const stage = { type: "stage.started", stage: 0, name: "work", attempt: 1, sessionId: S, turns: 0 } as const;
    await one.writeTask("t", { ...stage, turnId: "trn_1" });
    await one.write(S, undefined, opened({ task: "t" }));
    await one.take(S);
    await one.write(S, "trn_1", started);
    const stageStart = clock - 2_000;
    await other.take("t");
    await other.take(S);
    await other.writeTask(
      "t",
      { type: "task.queued", why: "interrupted" },
      { type: "task.started", run: 2, owner: "other" },
    );
    await other.writeTask("t", { ...stage, turnId: "trn_1" });
    await other.write(S, "trn_1", done);
    await other.writeTask("t", { type: "stage.ended", stage: 0, name: "work", passed: true });
    await other.writeTask("t", { type: "task.ended", outcome: "done" });
    expect(one.names()).toEqual([]);
    expect(other.names()).toEqual(["invoke_agent a", "stage work", "invoke_workflow"]);
    const [turn, work, task] = other.spans;
    expect(new Set(other.spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect([turn?.parentSpanId, work?.parentSpanId, task?.parentSpanId]).toEqual([
      work?.spanId,
      task?.spanId,
      undefined,
    ]);
    expect(work?.start).toBe(stageStart);
    await other.writeTask(
      "t",
      { type: "task.queued", why: "resumed" },
      { type: "task.started", run: 3, owner: "other" },
    );
    await other.writeTask("t", { type: "task.ended", outcome: "failed", code: "agent_failed" });
    const again = other.spans.at(-1);
    expect(again).toMatchObject({ name: "invoke_workflow", traceId: task?.traceId, error: { type: "agent_failed" } });
    expect(again?.spanId).not.toBe(task?.spanId);
  });
});

it("counts appends, leases and failures of the store, and changes no result", async () => {
  await one.write(S, undefined, opened());
  const lease = await one.store.acquireLease({ sessionId: S, owner: "o", now: 0, until: 1 });
  expect(one.metric("rookery.leases.held")).toContainEqual({ labels: { kind: "session" }, value: 1 });
  await one.store.renewLeases([lease], 2);
  await store.acquireLease({ sessionId: S, owner: "p", now: 9, until: 10 });
  expect(await one.store.renewLeases([lease], 20)).toEqual([undefined]);
  expect(one.metric("rookery.leases.held")).toContainEqual({ labels: { kind: "session" }, value: 0 });
  expect(one.metric("rookery.lease.changes")).toEqual([
    { labels: { kind: "session", change: "taken" }, value: 1 },
    { labels: { kind: "session", change: "renewed" }, value: 1 },
    { labels: { kind: "session", change: "lost" }, value: 1 },
  ]);
  await expect(one.write("ses_missing", "trn_1", done)).rejects.toMatchObject({ code: "session_not_found" });
  expect(one.metric("rookery.store.errors")).toEqual([]);
  await store[Symbol.asyncDispose]();
  await expect(one.store.list()).rejects.toMatchObject({ code: "store_closed" });
  expect(one.metric("rookery.store.errors")).toEqual([{ labels: { code: "store_closed" }, value: 1 }]);
  expect(one.metric("rookery.events")).toEqual([{ labels: { log: "session" }, value: 1 }]);
});
