import { describe, expect, it } from "vitest";
import {
  SessionEvent,
  applyAll,
  emptyState,
  emptySummary,
  eventBodies,
  newId,
  sessionStatus,
  summarize,
  timeOfId,
  type EventBody,
} from "./index.ts";

const AT = "2026-01-02T03:04:05.678Z";
const text = (value: string) => [{ type: "text" as const, text: value }];

function log(...bodies: EventBody[]): SessionEvent[] {
  return bodies.map((body, index) => ({
    ...body,
    seq: index + 1,
    at: AT,
    sessionId: "ses_1",
    agent: "a",
    turnId: "trn_1",
  }));
}

const OPENED: EventBody = { type: "session.opened", cwd: "/w", backend: "api", permissions: "ask" };
const STARTED: EventBody = { type: "turn.started", input: text("go") };
const ENDED: EventBody = { type: "turn.ended", outcome: { status: "done" } };
const PARKED: EventBody = { type: "turn.parked", until: AT, message: "limit reached" };
const CONTINUED: EventBody = { type: "turn.continued" };
const ASKED: EventBody = {
  type: "permission.requested",
  requestId: "r1",
  toolId: "t1",
  tool: "bash",
  title: "bash: ls",
  kind: "execute",
  input: {},
};
const usedBy = (costBy: "reported" | "computed" | undefined, costUsd = 1): EventBody => ({
  type: "usage.reported",
  inputTokens: 10,
  outputTokens: 2,
  costUsd,
  costBy,
});
const allowed = (scope: "once" | "session"): EventBody => ({
  type: "permission.resolved",
  requestId: "r1",
  decision: "allow",
  scope,
  by: "person",
});
/** A request, and a permission for the session by a prefix. */
const granted = (requestId: string, prefix: string): EventBody[] => [
  { ...ASKED, requestId },
  { type: "permission.resolved", requestId, decision: "allow", scope: "session", by: "person", prefix },
];

describe("ids", () => {
  it("sort in creation order, also within a millisecond and when the clock goes back", () => {
    const now = Date.now() + 1_000_000;
    const ids = [now, now, now, now - 5, now + 1].map((time) => newId("ses", time));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("contain their creation time", () => {
    const now = Date.now() + 2_000_000;
    expect(timeOfId(newId("trn", now))).toBe(now);
    expect(timeOfId("ses_nonsense")).toBeUndefined();
  });
});

describe("the schema", () => {
  it("is a closed union that rejects unknown types and fields", () => {
    const [event] = log(STARTED);
    expect(SessionEvent.safeParse(event).success).toBe(true);
    expect(SessionEvent.safeParse({ ...event, type: "turn.paused" }).success).toBe(false);
    expect(SessionEvent.safeParse({ ...event, extra: 1 }).success).toBe(false);
    expect(SessionEvent.safeParse({ ...event, seq: 0 }).success).toBe(false);
  });

  it("has every event type", () => {
    expect(Object.keys(eventBodies())).toHaveLength(41);
  });
});

describe("the state", () => {
  it.each<[string, EventBody[], object]>([
    ["opened", [OPENED], { status: "idle", cwd: "/w", head: 1 }],
    ["running", [OPENED, STARTED], { status: "running", turns: 1 }],
    ["waiting", [OPENED, STARTED, ASKED], { status: "waiting" }],
    ["answered", [OPENED, STARTED, ASKED, allowed("once")], { status: "running", grants: [] }],
    ["granted", [OPENED, STARTED, ASKED, allowed("session")], { status: "running", grants: ["bash"] }],
    [
      "granted by a prefix, which is no grant for the tool",
      [OPENED, STARTED, ...granted("r1", "npm test"), ...granted("r2", "npm test")],
      { grants: [], commandGrants: [{ tool: "bash", prefix: "npm test" }] },
    ],
    [
      "without a prefix that was revoked",
      [
        ...[OPENED, STARTED, ASKED, allowed("session"), ...granted("r2", "npm test"), ...granted("r3", "ls")],
        { type: "permission.revoked", tool: "bash", prefix: "ls" },
      ],
      { grants: ["bash"], commandGrants: [{ tool: "bash", prefix: "npm test" }] },
    ],
    [
      "without every prefix of a tool that was revoked",
      [
        ...[OPENED, STARTED, ASKED, allowed("session"), ...granted("r2", "npm test")],
        { type: "permission.revoked", tool: "bash" },
      ],
      { grants: [], commandGrants: [] },
    ],
    ["parked", [OPENED, STARTED, PARKED], { status: "parked", turn: { parkedUntil: AT, parks: 1 } }],
    [
      "continued",
      [OPENED, STARTED, PARKED, CONTINUED],
      { status: "running", turn: { parkedUntil: undefined, parks: 1 } },
    ],
    ["ended while it was parked", [OPENED, STARTED, PARKED, ENDED], { status: "idle", turn: undefined }],
    ["ended", [OPENED, STARTED, ASKED, ENDED], { status: "idle", requests: [], lastOutcome: { status: "done" } }],
    ["closed", [OPENED, { type: "session.closed" }], { status: "closed" }],
    [
      "closed permanently, also if a change came too late",
      [OPENED, { type: "session.closed" }, OPENED],
      { status: "closed" },
    ],
    ["an incomplete copy", [{ ...OPENED, copying: true }, STARTED, ENDED], { status: "copying", turns: 1 }],
    ["a complete copy", [{ ...OPENED, copying: true }, STARTED, ENDED, OPENED], { status: "idle", turns: 1 }],
    [
      "queued and started",
      [OPENED, { type: "input.queued", inputId: "i1", input: text("x") }, { ...STARTED, inputId: "i1" }],
      { queue: [] },
    ],
    [
      "a first answer counts, a second does not",
      [OPENED, STARTED, ASKED, { ...allowed("once"), decision: "deny" } as EventBody, allowed("session")],
      { grants: [] },
    ],
  ])("is %s", (_, bodies, expected) => {
    const state = applyAll(emptyState("ses_1"), log(...bodies));
    expect({ ...state, status: sessionStatus(state) }).toMatchObject(expected);
  });

  it("adds up usage, and has no cost if one report has none", () => {
    const used = { type: "usage.reported", inputTokens: 10, outputTokens: 2, costUsd: 0.5 } as const;
    expect(applyAll(emptyState("s"), log(used, used)).usage).toMatchObject({ inputTokens: 20, costUsd: 1 });
    const { costUsd: _, ...free } = used;
    expect(applyAll(emptyState("s"), log(used, free)).usage.costUsd).toBeUndefined();
  });

  it.each<[string, EventBody[], string | undefined]>([
    ["reported", [usedBy("reported"), usedBy("reported")], "reported"],
    ["computed", [usedBy("computed"), usedBy("computed")], "computed"],
    ["reported and computed in part", [usedBy("reported"), usedBy("computed"), usedBy("reported")], "mixed"],
    ["reported by default", [usedBy(undefined), usedBy("computed")], "mixed"],
    ["computed, and a part of it is free", [usedBy("computed"), usedBy("reported", 0)], "computed"],
    ["no source for zero cost", [usedBy("computed", 0)], undefined],
  ])("knows the source of a cost: %s", (_, bodies, costBy) => {
    expect(applyAll(emptyState("s"), log(...bodies)).usage.costBy).toBe(costBy);
  });

  it.each(["constructor", "__proto__"])("has the usage of an agent called %s", (agent) => {
    const events = log(OPENED, usedBy("reported"), usedBy("reported")).map((event) => ({ ...event, agent }));
    const { usageByAgent } = applyAll(emptyState("s"), events);
    expect(Object.entries(usageByAgent)).toMatchObject([[agent, { inputTokens: 20, costUsd: 2 }]]);
  });

  it("has usage by turn and by agent", () => {
    const [one, two, three] = [usedBy("reported"), usedBy("reported", 2), usedBy("reported", 4)];
    const events = log(OPENED, STARTED, one, ENDED, STARTED, two, three);
    const last = events.at(-1)!;
    const state = applyAll(emptyState("s"), [...events.slice(0, -1), { ...last, agent: "b" }]);
    expect(state.usage.costUsd).toBe(7);
    expect(state.turn?.usage.costUsd).toBe(6);
    expect(state.usageByAgent).toMatchObject({ a: { costUsd: 3 }, b: { costUsd: 4 } });
  });
});

it("keeps the summary and the state consistent for random events", () => {
  const closed: EventBody = { type: "session.closed" };
  const bodies = [OPENED, STARTED, ASKED, allowed("once"), ENDED, closed, STARTED, ASKED, PARKED, CONTINUED];
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 500; round += 1) {
    const chosen = Array.from({ length: 1 + random(12) }, () => bodies[random(bodies.length)] ?? OPENED);
    let asked = 0;
    const numbered = [OPENED, ...chosen].map((body) =>
      body.type === "permission.requested" ? { ...body, requestId: `r${(asked += 1)}` } : body,
    );
    const possible = withoutNonsense(numbered);
    const events = log(...possible);
    const state = applyAll(emptyState("ses_1"), events);
    const summary = summarize(emptySummary("ses_1"), events);
    expect({ events, status: summary.status }).toEqual({ events, status: sessionStatus(state) });
    expect(summary.waitingFor).toEqual(state.requests.filter((r) => r.answer === undefined).map((r) => r.requestId));
    expect(summary.parkedUntil).toBe(state.turn?.parkedUntil);
    expect(summary).toMatchObject({ head: state.head, turns: state.turns, cwd: state.cwd });
  }
});

it("names an event of unknown type in a damaged log", () => {
  const events = log(OPENED, STARTED, { ...STARTED, type: "turn.sturted" } as unknown as EventBody);
  expect(() => applyAll(emptyState("ses_1"), events)).toThrow(
    expect.objectContaining({ code: "log_corrupt", message: expect.stringContaining("event 3 of session ses_1") }),
  );
});

/** Drops events that no writer writes: a start within a turn, and turn events outside of one. */
function withoutNonsense(bodies: EventBody[]): EventBody[] {
  let inTurn = false;
  return bodies.filter(({ type }) => {
    if (type === "session.opened" || type === "session.closed") return true;
    if (type === "turn.started") return !inTurn && (inTurn = true);
    const kept = inTurn;
    if (type === "turn.ended") inTurn = false;
    return kept;
  });
}
