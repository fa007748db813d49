import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { call, collect, say, transcript, type Reply } from "../testing/index.ts";
import { MAX_QUEUED_INPUTS } from "./session.ts";
import { queueStoredInput } from "./queue-input.ts";
import { openScriptedSession, waitForStop } from "./test-scripted-session.ts";
import { LATER, dyingAfter, openScene } from "./test-scene.ts";

type Scene = Awaited<ReturnType<typeof openScene>>;

const RUN = call("bash", { command: "true" });

/** The user messages in the model request number `index`. */
function said({ model }: Pick<Scene, "model">, index: number): string[] {
  return model.requests[index]!.messages.filter(({ role, text }) => role === "user" && text !== "").map(
    ({ text }) => text,
  );
}

/** Queues the input when the first tool asks for a permission, then allows it. */
async function whileWorking(s: Scene, given: () => Promise<unknown>) {
  const events = [];
  for await (const event of s.session.prompt("go")) {
    events.push(event);
    if (event.type !== "permission.requested") continue;
    await given();
    await s.session.answer(event.requestId, { decision: "allow" });
  }
  return transcript(events);
}

describe("steering input", () => {
  it("reaches the model at the next step of the running turn", async () => {
    await using s = await openScene([RUN, say("as you wish")]);
    const lines = await whileWorking(s, () => s.session.queue("rather so", { deliver: "steer" }));
    await s.session.idle();
    expect(lines.slice(1)).toEqual([
      "started go",
      "asks r1 bash: true",
      "queued rather so",
      "answered r1 allow once by person",
      "tool bash: true",
      "tool ok",
      "steered rather so",
      "says as you wish",
      "ended done",
    ]);
    expect(said(s, 1)).toEqual(["go", "rather so"]);
    expect(s.model.problems).toEqual([]);
  });

  it("extends the turn if it arrives with the last reply", async () => {
    const given: { now?: () => Promise<unknown> } = {};
    const script = async (_: unknown, index: number): Promise<Reply> => {
      if (index === 0) await given.now?.();
      return say(index === 0 ? "done" : "done differently");
    };
    await using s = await openScene(script);
    given.now = () => s.session.queue("not yet", { deliver: "steer" });
    const lines = transcript(await collect(s.session.prompt("go")));
    expect(lines.slice(1)).toEqual([
      "started go",
      "queued not yet",
      "says done",
      "steered not yet",
      "says done differently",
      "ended done",
    ]);
    expect(said(s, 1)).toEqual(["go", "not yet"]);
  });

  it("starts a turn if none runs, before follow-up input", async () => {
    await using s = await openScene([RUN, say("two"), say("three"), say("four")]);
    await s.session.queue("alone", { deliver: "steer" });
    await vi.waitFor(() => expect(s.session.state.requests).toHaveLength(1));
    await s.session.queue("follow");
    await s.session.queue("sooner", { deliver: "steer" });
    await s.session.cancel();
    await s.session.idle();
    expect((await s.lines()).filter((line) => /^(started|ended|steered)/.test(line))).toEqual([
      "started alone",
      "ended cancelled",
      "started sooner",
      "ended done",
      "started follow",
      "ended done",
    ]);
  });

  it("survives the process that accepted it", async () => {
    for (let commits = 2, died = true; died; commits += 1) {
      const store = openMemoryStore();
      await using s = await openScene(
        [RUN, say("two"), say("three")],
        { permissions: "all" },
        dyingAfter(store, commits),
      );
      const first = s.session.prompt("go");
      await s.session.queue("rather so", { deliver: "steer" }).catch(() => undefined);
      died = await first.outcome.then(
        () => false,
        () => true,
      );
      const next = await s.open(LATER, store);
      const again = await next.openSession({ id: s.session.id });
      await again.idle();
      const lines = (await s.events(again.id)).map((event) => transcript([event])[0] ?? "");
      const heard = lines.filter((line) => line === "steered rather so" || line === "started rather so");
      expect(heard).toHaveLength(lines.includes("queued rather so") ? 1 : 0);
      await next.close();
    }
  });
});

describe("follow-up input", () => {
  it("waits for the end of the turn, in order", async () => {
    await using s = await openScene([RUN, say("one"), say("two"), say("three")]);
    const lines = await whileWorking(s, async () => {
      await s.session.queue("second");
      await s.session.queue("third", { deliver: "follow_up" });
    });
    await s.session.idle();
    expect(lines).not.toContain("steered second");
    expect((await s.lines()).filter((line) => /^(started|says)/.test(line))).toEqual([
      "started go",
      "says one",
      "started second",
      "says two",
      "started third",
      "says three",
    ]);
  });
});

it("rejects input beyond the queue limit and loses none of the queued inputs", async () => {
  await using s = await openScriptedSession(async (turn) => {
    await waitForStop(turn);
    return { status: "cancelled" };
  });
  s.session.prompt("go");
  for (let count = 0; count < MAX_QUEUED_INPUTS; count += 1) await s.session.queue("more");
  await expect(s.session.queue("too much")).rejects.toMatchObject({ code: "turn_in_progress" });
  expect(s.session.state.queue).toHaveLength(MAX_QUEUED_INPUTS);
});

describe("an input from another process", () => {
  const tell = (s: Scene, input: string, deliver: "steer" | "follow_up") =>
    queueStoredInput(s.store, { sessionId: s.session.id, input, deliver, clock: systemClock });

  it("reaches the next step although the driver wrote nothing meanwhile", async () => {
    await using s = await openScene([RUN, say("as you wish")]);
    const lines = await whileWorking(s, () => tell(s, "rather so", "steer"));
    expect(lines).toContain("steered rather so");
    expect(said(s, 1)).toEqual(["go", "rather so"]);
  });

  it("starts a turn in an idle open session", async () => {
    await using s = await openScene([say("one")]);
    await tell(s, "hello", "follow_up");
    await vi.waitFor(() => expect(s.session.state.lastOutcome).toMatchObject({ status: "done" }));
    expect(await s.lines()).toEqual(["opened anthropic", "queued hello", "started hello", "says one", "ended done"]);
  });

  it("is rejected if the session is closed or the input is empty", async () => {
    await using s = await openScene([]);
    await expect(tell(s, " ", "steer")).rejects.toMatchObject({ code: "input_invalid" });
    await s.session.end();
    await expect(tell(s, "hello", "steer")).rejects.toMatchObject({ code: "session_closed" });
  });
});
