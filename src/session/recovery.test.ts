import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../domain/index.ts";
import { call, calls, collect, say, transcript, type Script } from "../testing/index.ts";
import { systemClock } from "../stdx/index.ts";
import { LATER, dyingAfter, openWorld } from "./test-scene.ts";

const count = (events: readonly SessionEvent[], type: SessionEvent["type"]) =>
  events.filter((event) => event.type === type).length;

describe("a turn whose process dies after any commit", () => {
  /** The next reply depends on the request, as with a real model, so a repeated call is harmless. */
  const script: Script = (request) => {
    const told = request.toolResults.length;
    if (told === 0) return call("bash", { command: "echo ran >> count" }, { text: "Counting." });
    const { messages } = request.body as { messages: unknown[] };
    if (messages.length === 3) {
      return calls([
        { name: "read", input: { path: "count" } },
        { name: "bash", input: { command: "echo again >> count" } },
      ]);
    }
    return say("Finished.");
  };

  /** Runs a process that dies after this many commits, and one that resumes. Returns whether the first one died. */
  async function dieAfter(commits: number): Promise<boolean> {
    await using w = await openWorld(script);
    const dying = await w.open(systemClock, dyingAfter(w.store, commits));
    const first = await dying.openSession({ permissions: "all" });
    const died = await first.prompt("count").outcome.then(
      () => false,
      () => true,
    );
    const rookery = await w.open(LATER);
    const session = await rookery.openSession({ id: first.id, permissions: "all" });
    if (session.resumed !== undefined) expect(await session.resumed.outcome).toMatchObject({ status: "done" });
    else if (session.state.turns === 0) await session.prompt("count").outcome;

    const events = await w.events(first.id);
    expect(count(events, "turn.started")).toBe(1);
    expect(count(events, "turn.ended")).toBe(1);
    expect(count(events, "tool.started")).toBe(3);
    expect(count(events, "tool.ended")).toBe(3);
    const lines = transcript(events).filter((line) => line !== "notice turn_resumed");
    expect(lines.slice(-2)).toEqual(["says Finished.", "ended done"]);
    const ran = (await w.file("count")).split("\n").filter((line) => line !== "");
    expect(ran.length).toBe(new Set(ran).size); // no command ran twice
    const unknown = events.filter((event) => event.type === "tool.ended" && event.outcome === "unknown").length;
    expect(ran.length).toBeGreaterThanOrEqual(2 - unknown); // a missing one is recorded as unknown
    await session[Symbol.asyncDispose]();
    return died;
  }

  it("resumes, ends once, and repeats no effect that may have happened", async () => {
    let commits = 1;
    while (await dieAfter(commits)) commits += 1;
    expect(commits).toBeGreaterThan(12); // covers every commit of the turn
  });
});

it("answers a permission request of a dead process, and runs the tool when the session is reopened", async () => {
  await using w = await openWorld([call("bash", { command: "touch made" }), say("ok")]);
  const dying = await w.open();
  const first = await dying.openSession();
  for await (const event of first.prompt("go")) if (event.type === "permission.requested") break;
  // From here on, the process is dead: it gets no answers, and its lease expires.
  const elsewhere = await w.open(LATER);
  const reopened = await elsewhere.openSession({ id: first.id });
  await elsewhere.answer(first.id, "r1", { decision: "allow" });
  const lines = transcript(await collect(reopened.resumed!));
  expect(lines).toEqual([
    "notice turn_resumed",
    "answered r1 allow once by person",
    "tool bash: touch made",
    "tool ok",
    "says ok",
    "ended done",
  ]);
  expect(count(await w.events(first.id), "permission.requested")).toBe(1);
  await reopened[Symbol.asyncDispose]();
});

it("refuses a writer that lost its lease, and records none of its events", async () => {
  await using w = await openWorld([call("bash", { command: "true" }), say("ok")]);
  const slow = await w.open();
  const first = await slow.openSession();
  const turn = first.prompt("go");
  for await (const event of turn) if (event.type === "permission.requested") break;
  const elsewhere = await w.open(LATER);
  const reopened = await elsewhere.openSession({ id: first.id });
  const outcome = turn.outcome.catch((error: unknown) => error);
  await reopened.answer("r1", { decision: "allow" });
  await reopened.resumed!.outcome;
  expect(await outcome).toMatchObject({ code: "lease_lost" });
  expect(count(await w.events(first.id), "turn.ended")).toBe(1);
  await reopened[Symbol.asyncDispose]();
});
