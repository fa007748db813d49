import { expect, it } from "vitest";
import { applyAll, emptyState, SessionFold, sessionStatus, type EventBody, type SessionEvent } from "./index.ts";

const AT = "2026-01-01T00:00:00.000Z";
const opened: EventBody = { type: "session.opened", backend: "api", cwd: "/tmp", permissions: "ask" };

function eventsOf(bodies: readonly (EventBody & { turnId?: string })[]): SessionEvent[] {
  return bodies.map((body, at) => ({ ...body, seq: at + 1, at: AT, agent: "a", sessionId: "ses_1" }));
}

function tools(count: number): (EventBody & { turnId?: string })[] {
  const ids = Array.from({ length: count }, (_, at) => `tool_${at}`);
  const started = ids.map((toolId) => ({
    type: "tool.started" as const,
    toolId,
    name: "x",
    title: "x",
    kind: "other" as const,
    input: {},
  }));
  const ended = ids.map((toolId) => ({ type: "tool.ended" as const, toolId, outcome: "ok" as const, text: "" }));
  return [...started, ...ended];
}

function permissions(count: number): (EventBody & { turnId?: string })[] {
  const ids = Array.from({ length: count }, (_, at) => `req_${at}`);
  const asked = ids.map((requestId) => ({
    ...{
      type: "permission.requested" as const,
      requestId,
      toolId: requestId,
      tool: requestId,
      title: "x",
      turnId: "t",
    },
    input: {},
  }));
  const answered = ids.map((requestId) => ({
    ...{
      type: "permission.resolved" as const,
      requestId,
      decision: "deny" as const,
      scope: "once" as const,
      turnId: "t",
    },
  }));
  return [...asked, ...answered] as (EventBody & { turnId?: string })[];
}

function inputs(count: number): (EventBody & { turnId?: string })[] {
  const ids = Array.from({ length: count }, (_, at) => `inp_${at}`);
  const input = [{ type: "text" as const, text: "x" }];
  const queued = ids.map((inputId) => ({ type: "input.queued" as const, inputId, input }));
  return [...queued, ...ids.map((inputId) => ({ type: "input.delivered" as const, inputId, input }))];
}

function children(count: number): (EventBody & { turnId?: string })[] {
  const ids = Array.from({ length: count }, (_, at) => `ses_child_${at}`);
  const begun = ids.map((childSessionId) => ({
    type: "subagent.started" as const,
    childSessionId,
    prompt: "x",
    turnId: "t",
  }));
  const ended = ids.map((childSessionId) => ({
    type: "subagent.ended" as const,
    childSessionId,
    outcome: { status: "done" },
    turnId: "t",
  }));
  return [...begun, ...ended] as unknown as (EventBody & { turnId?: string })[];
}

const turn = { type: "turn.started" as const, turnId: "t", input: [{ type: "text" as const, text: "x" }] };
const deltas = (count: number) =>
  Array.from({ length: count }, () => ({ type: "message.delta" as const, messageId: "m", text: "x", turnId: "t" }));

it.each([
  ["tools that run at once", tools],
  ["permissions that are open at once", permissions],
  ["inputs that are queued at once", inputs],
  ["children that run at once", children],
  ["permissions before many other events", (count: number) => [...permissions(count), ...deltas(4 * count)]],
  [
    "tools with the same ID",
    (count: number) => tools(count).map((body) => ({ ...body, toolId: "same" })) as (EventBody & { turnId?: string })[],
  ],
])("takes time linear in the number of %s", (_, make) => {
  const [few, many] = [2_000, 32_000].map((count) => eventsOf([opened, turn, ...make(count)]));
  const times = { few: Infinity, many: Infinity };
  for (let run = 0; run < 3; run += 1) {
    times.few = Math.min(times.few, timeOf(few ?? [], 16)); // one run is too short for the CPU clock
    times.many = Math.min(times.many, timeOf(many ?? [], 1));
  }
  expect(times.many / times.few).toBeLessThan(6); // linear: 1; with scans: 16
});

/** CPU time, because wall time depends on the load. */
function timeOf(events: readonly SessionEvent[], times: number): number {
  const begun = process.cpuUsage();
  for (let time = 0; time < times; time += 1) applyAll(emptyState("ses_1"), events);
  return process.cpuUsage(begun).user;
}

it("is the same for events added at once, one by one, or in pages", () => {
  const bodies = [opened, turn, ...tools(12), ...permissions(12), ...inputs(12), ...children(12)];
  const mixed = bodies.slice(2).sort((one, other) => rank(one) - rank(other));
  const events = eventsOf([opened, turn, ...mixed, { type: "turn.ended", turnId: "t", outcome: { status: "done" } }]);
  for (let upTo = 1; upTo <= events.length; upTo += 1) {
    const some = events.slice(0, upTo);
    const atOnce = applyAll(emptyState("ses_1"), some);
    const fold = new SessionFold(emptyState("ses_1"));
    for (const event of some) fold.add(event);
    expect(fold.state).toEqual(atOnce);
    expect(some.reduce((state, event) => applyAll(state, [event]), emptyState("ses_1"))).toEqual(atOnce);
  }
});

it("does not change an earlier state when events are added", () => {
  const events = eventsOf([opened, turn, ...tools(10), ...permissions(10)]);
  const fold = new SessionFold(emptyState("ses_1"));
  const seen = events.map((event) => {
    fold.add(event);
    return { state: fold.state, copy: structuredClone(fold.state) };
  });
  for (const { state, copy } of seen) expect(state).toEqual(copy);
});

it("is waiting while a request of the turn has no answer", () => {
  const events = eventsOf([opened, turn, ...permissions(3)]);
  const statuses = events.map((_, at) => sessionStatus(applyAll(emptyState("ses_1"), events.slice(0, at + 1))));
  expect(statuses).toEqual(["idle", "running", "waiting", "waiting", "waiting", "waiting", "waiting", "running"]);
});

/** A deterministic shuffled order in which starts come before ends. */
function rank(body: object): number {
  const text = JSON.stringify(body);
  const hash = Buffer.from(text).reduce((sum, byte) => (sum * 31 + byte) % 997, 7);
  return /started|requested|queued/.test(text) ? hash : hash + 500;
}
