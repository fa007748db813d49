import { expect, it } from "vitest";
import type { SessionEvent } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import { dyingAfter, LATER, openScene, openWorld } from "../session/test-scene.ts";
import { call, collect, say, transcript, type Script } from "../testing/index.ts";

/** Calls `list` twice, and reports 100 tokens for each reply. */
const twoLooks: Script = ({ toolResults }) => {
  const usage = { input: 90, output: 10 };
  return toolResults.length < 2 ? call("list", { path: "." }, { usage }) : say("Looked.", { usage });
};

const lookTwice: Script = (request) =>
  twoLooks({ ...request, toolResults: request.messages.flatMap(({ toolResults }) => toolResults) }, 0);

/** Resolves with the id of an open request other than `before`. */
async function waitForRequest(
  session: Session,
  events: () => Promise<readonly SessionEvent[]>,
  before?: string,
): Promise<string> {
  for (;;) {
    const open = session.state.requests.find(({ answer, requestId }) => answer === undefined && requestId !== before);
    if (open !== undefined) return open.requestId;
    const ended = (await events()).some(({ type }) => type === "turn.ended");
    if (ended) throw new Error("the turn ended without a request");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const QUESTION = "the session has used 100 of 100 tokens: continue?";

it("asks before a step that would exceed the budget, and keeps a raise for the rest of the session", async () => {
  await using s = await openScene(lookTwice, { budget: { tokens: 100 } });
  const turn = s.session.prompt("look");
  const requestId = await waitForRequest(s.session, () => s.events(s.session.id));
  expect(s.session.state.requests.map(({ title }) => title)).toEqual([QUESTION]);
  expect(s.model.requests).toHaveLength(1);
  await s.session.answer(requestId, { action: "accept", content: { how: "as much again" } });
  const second = await waitForRequest(s.session, () => s.events(s.session.id), requestId);
  expect(s.session.state.requests.at(-1)?.title).toBe("the session has used 200 of 200 tokens: continue?");
  await s.session.answer(second, { action: "accept" }); // selects the first choice
  expect(await turn.outcome).toMatchObject({ status: "done" });
  expect(s.session.state.budgets.raised).toEqual({ "session.tokens": 300 });
  expect((await s.lines()).filter((line) => line.startsWith("budget"))).toEqual([
    "budget of the session",
    "budget of the session raised in tokens",
    "budget of the session raised in tokens",
  ]);
});

it("continues without a limit for one turn, and asks again in the next", async () => {
  await using s = await openScene(lookTwice, { budget: { steps: 1 } });
  const turn = s.session.prompt("look");
  const requestId = await waitForRequest(s.session, () => s.events(s.session.id));
  expect(s.session.state.requests.at(-1)?.title).toBe("the session has used 1 of 1 step: continue?");
  await s.session.answer(requestId, { action: "accept", content: { how: "without limit for this turn" } });
  expect(await turn.outcome).toMatchObject({ status: "done" });
  expect(s.model.requests).toHaveLength(3);
  const next = s.session.prompt("again");
  await s.session.answer(await waitForRequest(s.session, () => Promise.resolve([])), { action: "decline" });
  expect(await next.outcome).toMatchObject({ status: "failed", code: "budget_reached" });
  expect(s.model.requests).toHaveLength(3);
});

it.each([
  ["declines", { action: "decline" }],
  ["chooses stop", { action: "accept", content: { how: "stop" } }],
] as const)("fails with a message that says how to continue if a person %s", async (_, answer) => {
  await using s = await openScene(lookTwice, { budget: { tokens: 100 } });
  const turn = s.session.prompt("look");
  await s.session.answer(await waitForRequest(s.session, () => s.events(s.session.id)), answer);
  expect(await turn.outcome).toMatchObject({
    status: "failed",
    code: "budget_reached",
    message: `the session has used 100 of 100 tokens, and nobody allowed more: raise the budget and continue with: rookery run "continue" --session ${s.session.id} --budget …`,
  });
});

it("fails immediately if nobody can be asked, and continues with a higher budget", async () => {
  await using s = await openScene(lookTwice, { budget: { tokens: 100 }, attended: false });
  expect(await s.session.prompt("look").outcome).toMatchObject({ status: "failed", code: "budget_reached" });
  expect(await s.session.prompt("look").outcome).toMatchObject({ status: "failed", code: "budget_reached" });
  expect(s.model.requests).toHaveLength(1);
  await s.session[Symbol.asyncDispose]();
  await using again = await s.rookery.openSession({ id: s.session.id, budget: { tokens: 1_000 }, attended: false });
  expect(await again.prompt("go on").outcome).toMatchObject({ status: "done" });
});

it("stores the session's budget in the log, so that it still applies after the session is reopened", async () => {
  await using s = await openScene(lookTwice, { budget: { tokens: 100 }, attended: false });
  await s.session.prompt("look").outcome;
  await s.session[Symbol.asyncDispose]();
  await using again = await s.rookery.openSession({ id: s.session.id, attended: false });
  expect(await again.prompt("look").outcome).toMatchObject({ status: "failed", code: "budget_reached" });
});

it("enforces the budget of one agent in a session", async () => {
  await using world = await openWorld(lookTwice);
  await world.configure('[agents.robin]\nmodel = "anthropic/claude-x"\nbudget = { tokens = 150 }\n');
  await using rookery = await world.open();
  await using session = await rookery.openSession({ agent: "robin", attended: false });
  expect(await session.prompt("look").outcome).toMatchObject({
    code: "budget_reached",
    message:
      "agent robin has used 200 of 150 tokens in this session, and nobody allowed more: raise [agents.robin.budget]",
  });
});

it("counts the time that the agent runs, and not the time that a person takes to answer", async () => {
  let now = Date.now();
  const clock = { now: () => now };
  const slow: Script = (request) => {
    now += 40_000;
    return twoLooks({ ...request, toolResults: request.messages.flatMap(({ toolResults }) => toolResults) }, 0);
  };
  await using world = await openWorld(slow);
  await using rookery = await world.open(clock);
  await using session = await rookery.openSession({ budget: { seconds: 60 } });
  const turn = session.prompt("look");
  const requestId = await waitForRequest(session, () => world.events(session.id));
  expect(session.state.requests.at(-1)?.title).toBe("the session has used its 1 minute: continue?");
  now += 1_000_000;
  await session.answer(requestId, { action: "accept" });
  expect(await turn.outcome).toMatchObject({ status: "done" }); // 40 s more, of the 60 s that were added
});

it("stops if a dollar budget is set and the price is unknown", async () => {
  await using s = await openScene([say("Never.")], {
    budget: { usd: 1 },
    model: "anthropic/nobody-knows",
    attended: false,
  });
  expect(await s.session.prompt("go").outcome).toMatchObject({
    code: "budget_reached",
    message: expect.stringMatching(
      /^the session has a budget of 1\.00 USD, but the price of this model is unknown, .*: set a budget in tokens, or set the price under \[prices\."anthropic\/nobody-knows"\]$/,
    ) as string,
  });
  expect(s.model.requests).toEqual([]);
});

it("continues without a budget that cannot be enforced after a person agrees", async () => {
  await using s = await openScene([say("One."), say("Two.")], { budget: { usd: 1 }, model: "anthropic/nobody-knows" });
  const turn = s.session.prompt("go");
  await s.session.answer(await waitForRequest(s.session, () => s.events(s.session.id)), { action: "accept" });
  expect(await turn.outcome).toMatchObject({ status: "done" });
  expect(s.session.state.budgets.raised).toEqual({ "session.usd": null });
  expect(await s.session.prompt("go").outcome).toMatchObject({ status: "done" });
});

it("reports the used amount in dollars", async () => {
  await using world = await openWorld([call("list", { path: "." }, { usage: { input: 900_000, output: 120_000 } })]);
  await world.configure('[prices."anthropic/x"]\ninput = 1\noutput = 1\n');
  await using rookery = await world.open();
  await using session = await rookery.openSession({ model: "anthropic/x", budget: { usd: 1 }, attended: false });
  await collect(session.prompt("go"));
  expect(session.state.lastOutcome).toMatchObject({
    message: expect.stringContaining("the session has used 1.02 of 1.00 USD, and nobody allowed more") as string,
  });
});

it("does not ask before a step that takes place only if input arrives", async () => {
  await using s = await openScene([say("Done.", { usage: { input: 500, output: 1 } })], { budget: { tokens: 100 } });
  expect(await s.session.prompt("go").outcome).toMatchObject({ status: "done" });
  expect((await s.lines()).some((line) => line.startsWith("asks"))).toBe(false);
});

it("asks once and keeps the answer, wherever its process is killed", async () => {
  const found = new Set<string>();
  for (let commits = 1, whole = false; !whole; commits += 1) {
    await using world = await openWorld(lookTwice);
    const first = await world.open(undefined, dyingAfter(world.store, commits));
    let sessionId = "";
    try {
      const session = await first.openSession({ budget: { tokens: 100 } });
      sessionId = session.id;
      const turn = session.prompt("look");
      turn.outcome.catch(() => undefined);
      const answering = waitForRequest(session, () => world.events(session.id)).then((id) =>
        world.open().then(async (other) => {
          await other.answer(session.id, id, { action: "accept", content: { how: "without limit for this turn" } });
          await other.close();
        }),
      );
      const both = await Promise.allSettled([turn.outcome, Promise.race([answering, turn.outcome])]);
      whole = both[0].status === "fulfilled";
    } catch {
      if (sessionId === "") continue; // killed before the session was created
    } finally {
      await first.close().catch(() => undefined);
    }
    await using second = await world.open(LATER);
    if ((await world.store.summary(sessionId)) === undefined) continue;
    await using again = await second.openSession({ id: sessionId });
    if (again.resumed !== undefined) {
      const { outcome } = again.resumed;
      const open = waitForRequest(again, () => world.events(sessionId)).then((id) =>
        again.answer(id, { action: "accept", content: { how: "without limit for this turn" } }),
      );
      await Promise.all([outcome, open.catch(() => undefined)]);
    } else if (again.state.turns === 0) continue;
    const lines = transcript(await world.events(sessionId));
    found.add(lines.filter((line) => line.startsWith("asks")).join("\n"));
    expect(lines.filter((line) => line.startsWith("asks"))).toEqual([`asks r1 ${QUESTION}`]);
    expect(lines.filter((line) => line.startsWith("answered"))).toEqual(["answered r1 accept"]);
    expect(lines.at(-1)).toBe("ended done");
  }
  expect(found.size).toBe(1);
});
