import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { QuestionAnswer, SessionEvent, SessionStore, TurnContext, TurnOutcome } from "../domain/index.ts";
import { NO_CAPABILITIES, SessionEvent as EventSchema } from "../domain/index.ts";
import { DisposeStack, systemClock, type Clock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { collect, transcript } from "../testing/index.ts";
import { answerRequest } from "./answer.ts";
import { createSession, reopenSession, type OpenOptions } from "./open.ts";
import { LATER } from "./test-scene.ts";

const SETTINGS = { agent: "a", backend: "acp", model: undefined, cwd: "/", permissions: "ask" } as const;
const DONE: TurnOutcome = { status: "done" };
const FORM = { type: "object", properties: { colour: { type: "string" } } };

/** A session with a scripted agent. */
async function openAsking(
  play: (turn: TurnContext) => Promise<TurnOutcome>,
  { resumesTurns = false, ...options }: Partial<OpenOptions> & { resumesTurns?: boolean } = {},
) {
  const owned = new DisposeStack();
  const store = owned.use(openMemoryStore());
  const connection = {
    resumesTurns,
    capabilities: NO_CAPABILITIES,
    runTurn: play,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const prepare = () => Promise.resolve({ settings: SETTINGS, connect: () => Promise.resolve(connection) });
  const opening = { store, clock: systemClock, owner: "elsewhere-test", attended: true, ...options };
  const session = owned.use(await createSession(opening, {}, prepare));
  return {
    store,
    session,
    reopen: async (clock: Clock) => owned.use(await reopenSession({ ...opening, clock }, session.id, {}, prepare)),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Simulates another process. */
function answer(store: SessionStore, sessionId: string, given: QuestionAnswer, requestId = "r1"): Promise<void> {
  return answerRequest(store, { sessionId, requestId, answer: given, clock: systemClock });
}

describe("a question from an agent", () => {
  it.each<[string, QuestionAnswer]>([
    ["accepted with content", { action: "accept", content: { colour: "grey" } }],
    ["declined", { action: "decline" }],
    ["cancelled without its turn", { action: "cancel" }],
  ])("is %s by another process, and the agent continues with the answer", async (_, given) => {
    const heard: QuestionAnswer[] = [];
    await using s = await openAsking(async (turn) => {
      heard.push(await turn.ask({ message: "Which colour?", from: "painter", schema: FORM }));
      return DONE;
    });
    const events: SessionEvent[] = [];
    for await (const event of s.session.prompt("go")) {
      events.push(EventSchema.parse(JSON.parse(JSON.stringify(event))));
      if (event.type !== "question.asked") continue;
      expect(event).toMatchObject({ requestId: "r1", message: "Which colour?", from: "painter", schema: FORM });
      expect(await s.store.summary(s.session.id)).toMatchObject({ status: "waiting", waitingFor: ["r1"] });
      await answer(s.store, s.session.id, given);
    }
    expect(heard).toEqual([{ content: undefined, ...given }]);
    expect(transcript(events).slice(2)).toEqual(["asks r1 Which colour?", `answered r1 ${given.action}`, "ended done"]);
    expect(events.find(({ type }) => type === "question.answered")).toMatchObject({ ...given, by: "person" });
  });

  it("accepts one answer of the right kind, and only while it is open", async () => {
    await using s = await openAsking(async (turn) => {
      await turn.ask({ message: "Sure?" });
      return DONE;
    });
    for await (const event of s.session.prompt("go")) {
      if (event.type !== "question.asked") continue;
      await expect(s.session.answer("r1", { decision: "allow" })).rejects.toMatchObject({ code: "usage" });
      await s.session.answer("r1", { action: "accept" });
      await expect(s.session.answer("r1", { action: "decline" })).rejects.toMatchObject({ code: "request_resolved" });
    }
    await expect(s.session.answer("r1", { action: "decline" })).rejects.toMatchObject({ code: "request_resolved" });
  });

  it("can be open beside another, and each gets its own answer", async () => {
    const heard: unknown[] = [];
    await using s = await openAsking(async (turn) => {
      const questions = ["one", "two"].map((message) => turn.ask({ message }));
      heard.push(...(await Promise.all(questions)));
      return DONE;
    });
    let asked = 0;
    for await (const event of s.session.prompt("go")) {
      if (event.type !== "question.asked" || (asked += 1) < 2) continue;
      await answer(s.store, s.session.id, { action: "accept", content: 2 }, "r2");
      await answer(s.store, s.session.id, { action: "decline" }, "r1");
    }
    expect(heard).toEqual([
      { action: "decline", content: undefined },
      { action: "accept", content: 2 },
    ]);
  });

  it("ignores patterns in its schema, which could block the process", async () => {
    const schema = {
      type: "object",
      properties: { colour: { type: "string", pattern: "^(a+)+$" } },
      required: ["colour"],
    };
    await using s = await openAsking(async (turn) => {
      await turn.ask({ message: "Which colour?", schema });
      return DONE;
    });
    for await (const event of s.session.prompt("go")) {
      if (event.type !== "question.asked") continue;
      const missing = answer(s.store, s.session.id, { action: "accept", content: {} });
      await expect(missing).rejects.toMatchObject({ code: "input_invalid" });
      await answer(s.store, s.session.id, { action: "accept", content: { colour: `${"a".repeat(20)}!` } });
    }
  });

  it("is declined at once and recorded if nobody can be asked", async () => {
    const heard: QuestionAnswer[] = [];
    await using s = await openAsking(
      async (turn) => {
        heard.push(await turn.ask({ message: "Which?", url: "https://example.test/" }));
        return DONE;
      },
      { attended: false },
    );
    const events = await collect(s.session.prompt("go"));
    expect(heard).toEqual([{ action: "decline" }]);
    expect(transcript(events).slice(2)).toEqual(["asks r1 Which?", "answered r1 decline", "ended done"]);
    expect(events.find(({ type }) => type === "question.answered")).toMatchObject({ by: "policy" });
    expect((await s.store.summary(s.session.id))?.waitingFor).toEqual([]);
  });
});

describe("a question whose turn is cancelled", () => {
  it("is withdrawn with the turn, and rejects answers", async () => {
    let heard: unknown;
    await using s = await openAsking(async (turn) => {
      heard = await turn.ask({ message: "Sure?" }).catch((error: unknown) => error);
      return turn.signal.aborted ? { status: "cancelled" } : DONE;
    });
    const events: SessionEvent[] = [];
    for await (const event of s.session.prompt("go")) {
      events.push(event);
      if (event.type === "question.asked") void s.session.cancel();
    }
    expect(heard).toMatchObject({ code: "interrupted" });
    expect(transcript(events).slice(2)).toEqual(["asks r1 Sure?", "answered r1 cancel", "ended cancelled"]);
    expect(events.find(({ type }) => type === "question.answered")).toMatchObject({ by: "policy" });
    await expect(answer(s.store, s.session.id, { action: "accept" })).rejects.toMatchObject({
      code: "request_resolved",
    });
  });

  it("cannot be asked after the cancellation or the end of the turn", async () => {
    const late: { ask?: TurnContext["ask"] } = {};
    await using s = await openAsking(async (turn) => {
      late.ask = (question) => turn.ask(question);
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      await expect(turn.ask({ message: "Still?" })).rejects.toMatchObject({ code: "interrupted" });
      return { status: "cancelled" };
    });
    const turn = s.session.prompt("go");
    for await (const event of turn) if (event.type === "turn.started") void s.session.cancel();
    await expect(late.ask!({ message: "And now?" })).rejects.toMatchObject({ code: "interrupted" });
    const { events } = await s.store.read({ sessionId: s.session.id });
    expect(transcript(events)).toEqual(["opened a", "started go", "ended cancelled"]);
  });

  it("is withdrawn when another process closes the session", async () => {
    await using s = await openAsking(async (turn) => {
      await turn.ask({ message: "Sure?" }).catch(() => undefined);
      return { status: "cancelled" };
    });
    let closed: Promise<void> | undefined;
    for await (const event of s.session.prompt("go")) if (event.type === "question.asked") closed = s.session.end();
    await closed;
    const { events } = await s.store.read({ sessionId: s.session.id });
    expect(transcript(events).slice(-3)).toEqual(["answered r1 cancel", "ended cancelled", "closed"]);
  });
});

it("withdraws the question of a dead process with its turn", async () => {
  await using s = await openAsking(async (turn) => {
    await turn.ask({ message: "Sure?" });
    return DONE;
  });
  for await (const event of s.session.prompt("go")) if (event.type === "question.asked") break;
  const next = await s.reopen(LATER);
  expect(next.resumed).toBeUndefined();
  const { events } = await s.store.read({ sessionId: s.session.id });
  expect(transcript(events).slice(-2)).toEqual(["answered r1 cancel", "ended failed interrupted"]);
  await expect(answer(s.store, s.session.id, { action: "accept" })).rejects.toMatchObject({ code: "request_resolved" });
});

it.each<[string, readonly string[]]>([
  ["before the next opener", ["answered r1 accept", "asks r2 Sure?", "answered r2 decline", "ended done"]],
  ["after it", ["answered r1 accept", "asks r2 Sure?", "answered r2 decline", "ended done"]],
])("does not repeat a question when its turn resumes after a crash: answered %s", async (when, expected) => {
  const runs: string[][] = [];
  await using s = await openAsking(
    async (turn) => {
      const heard: string[] = [];
      const isDead = runs.push(heard) === 1;
      heard.push((await turn.ask({ message: "Sure?" })).action);
      if (isDead && !turn.signal.aborted) await once(turn.signal, "abort"); // a dead process does nothing more
      heard.push((await turn.ask({ message: "Sure?" })).action);
      return DONE;
    },
    { resumesTurns: true },
  );
  for await (const event of s.session.prompt("go")) if (event.type === "question.asked") break;
  if (when.startsWith("before")) await answer(s.store, s.session.id, { action: "accept" });
  const next = await s.reopen(LATER);
  if (when.startsWith("after")) await answer(s.store, s.session.id, { action: "accept" });
  for await (const event of next.resumed!) {
    if (event.type === "question.asked" && event.requestId === "r2") await next.answer("r2", { action: "decline" });
  }
  const { events } = await s.store.read({ sessionId: s.session.id });
  const lines = transcript(events).slice(3);
  expect(lines.filter((line) => !line.startsWith("notice"))).toEqual(expected);
  expect(runs[1]).toEqual(["accept", "decline"]);
});

describe("form content", () => {
  const schema = {
    type: "object",
    properties: { name: { type: "string", minLength: 1 }, age: { type: "integer", maximum: 120 } },
    required: ["name"],
  };
  it.each<[string, unknown, QuestionAnswer, RegExp | undefined]>([
    ["fits", schema, { action: "accept", content: { name: "Ada", age: 36 } }, undefined],
    ["lacks a required field", schema, { action: "accept" }, /name: .*expected string/],
    ["has the wrong type", schema, { action: "accept", content: { name: 3 } }, /name: .*expected string/],
    ["exceeds a limit", schema, { action: "accept", content: { name: "Ada", age: 121 } }, /age/],
    ["is none", schema, { action: "decline" }, undefined],
    ["belongs to an invalid schema", { type: "tuple", of: [1] }, { action: "accept" }, undefined],
  ])("that %s", async (_, asking, given, refused) => {
    await using s = await openAsking(async (turn) => {
      await turn.ask({ message: "Who?", schema: asking });
      return DONE;
    });
    for await (const event of s.session.prompt("go")) {
      if (event.type !== "question.asked") continue;
      const answered = answer(s.store, s.session.id, given);
      if (refused === undefined) await answered;
      else {
        await expect(answered).rejects.toMatchObject({ code: "input_invalid", message: refused });
        await answer(s.store, s.session.id, { action: "cancel" });
      }
    }
  });
});
