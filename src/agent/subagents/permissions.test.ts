import { expect, it } from "vitest";
import type { SessionEvent } from "../../domain/index.ts";
import { call, collect, say, transcript } from "../../testing/index.ts";
import { deferred } from "../../stdx/index.ts";
import { delegatingScript, openSubagentScene, getPrompt, lastToolText } from "./test-scene.ts";

const one = [{ prompt: "make it", title: "Maker" }];
const maker = delegatingScript(one, (request) =>
  request.toolResults.length === 0 ? call("bash", { command: "echo made >> made" }) : say("made it"),
);

async function untilAsked(events: AsyncIterable<SessionEvent>): Promise<SessionEvent | undefined> {
  for await (const event of events) if (event.type === "permission.requested") return event;
  return undefined;
}

it("asks for a child's permission in its parent, and passes the answer to the child", async () => {
  await using w = await openSubagentScene(maker);
  await using rookery = await w.open();
  const session = await rookery.openSession();
  const turn = session.prompt("go");
  const asked = await untilAsked(turn);
  expect(asked).toMatchObject({ tool: "bash", from: "Maker", title: expect.stringMatching(/^Maker: /) });
  await session.answer("r1", { decision: "allow" });
  expect(await turn.outcome).toMatchObject({ status: "done" });
  const [child = ""] = await w.childrenOf(session.id);
  expect((await w.lines(child)).filter((line) => /^(asks|answered)/.test(line))).toEqual([
    expect.stringMatching(/^asks r1 /),
    "answered r1 allow once by person",
  ]);
  expect(await w.file("made")).toBe("made\n");
  const progress = (await w.events(session.id))
    .flatMap((e) => (e.type === "tool.updated" ? [e.text ?? ""] : []))
    .join("");
  expect(progress).toContain(`Maker: ${child} is waiting for an answer: r1 `);
});

it("accepts an answer given to the child directly, and withdraws the request in the parent", async () => {
  await using w = await openSubagentScene(maker);
  await using rookery = await w.open();
  const session = await rookery.openSession();
  const turn = session.prompt("go");
  await untilAsked(turn);
  const [child = ""] = await w.childrenOf(session.id);
  await rookery.answer(child, "r1", { decision: "deny", message: "not now" });
  expect(await turn.outcome).toMatchObject({ status: "done" });
  expect((await w.lines(session.id)).filter((line) => /^answered/.test(line))).toEqual([
    "answered r1 cancelled once by policy",
  ]);
  expect(await w.file("made")).toBe("");
  expect((await w.store.summary(session.id))?.waitingFor).toEqual([]);
});

it("denies a child's request if nobody can be asked", async () => {
  await using w = await openSubagentScene(maker);
  await using rookery = await w.open();
  const session = await rookery.openSession({ attended: false });
  const lines = transcript(await collect(session.prompt("go")));
  expect(lines.filter((line) => line.startsWith("asks"))).toEqual([]);
  const [child = ""] = await w.childrenOf(session.id);
  expect(await w.lines(child)).toContain("answered r1 deny once by policy");
  expect(await w.file("made")).toBe("");
});

it("cancels the children of a cancelled turn, and ends after they have ended", async () => {
  const never = deferred();
  const tasks = ["a", "b", "c"].map((prompt) => ({ prompt, title: prompt }));
  await using w = await openSubagentScene(
    delegatingScript(tasks, async () => {
      await never.promise;
      return say("never");
    }),
  );
  await using rookery = await w.open();
  const session = await rookery.openSession({ permissions: "all" });
  const turn = session.prompt("go");
  await w.model.received(3); // the parent's first, and all three
  await session.cancel();
  expect(await turn.outcome).toEqual({ status: "cancelled" });
  const children = await w.childrenOf(session.id);
  expect(children).toHaveLength(3);
  for (const child of children) {
    expect((await w.lines(child)).at(-1)).toBe("ended cancelled");
    expect(await w.store.currentLease(child)).toBeUndefined(); // the lease is released
  }
  const lines = await w.lines(session.id);
  expect(lines.filter((line) => line === "subagent cancelled")).toHaveLength(3);
  expect(lines.at(-1)).toBe("ended cancelled");
  never.resolve();
});

it.each(["the session", "Rookery"])("ends all children when %s is closed", async (what) => {
  const never = deferred();
  await using w = await openSubagentScene(
    delegatingScript([{ prompt: "a" }, { prompt: "b" }], async () => {
      await never.promise;
      return say("never");
    }),
  );
  await using rookery = await w.open();
  const session = await rookery.openSession({ permissions: "all" });
  const turn = session.prompt("go");
  await w.model.received(2);
  await (what === "Rookery" ? rookery.close() : session.close());
  expect(await turn.outcome).toEqual({ status: "cancelled" });
  for (const child of await w.childrenOf(session.id)) expect((await w.lines(child)).at(-1)).toBe("ended cancelled");
  expect((await w.lines(session.id)).filter((line) => line === "subagent cancelled")).toHaveLength(2);
  expect(lastToolText(await w.events(session.id))).not.toContain("done");
  never.resolve();
});

it("asks a child's question in its parent, and passes the answer to the child", async () => {
  await using w = await openSubagentScene(
    delegatingScript(one, ({ toolResults: [result] }) =>
      result === undefined ? call("ask", { question: "Which colour?" }) : say(result.content),
    ),
  );
  await using rookery = await w.open();
  const session = await rookery.openSession({ permissions: "all" });
  const turn = session.prompt("go");
  for await (const event of turn) {
    if (event.type !== "question.asked") continue;
    expect(event).toMatchObject({ message: "Which colour?", from: "Maker" });
    await session.answer(event.requestId, { action: "accept", content: { answer: "blue" } });
  }
  expect(lastToolText(await w.events(session.id))).toContain("the user answered: blue");
});

it("asks for a grandchild's permission in the top session, and names both sub-agents", async () => {
  await using w = await openSubagentScene((request) => {
    const [result] = request.toolResults;
    if (result !== undefined) return say(result.content);
    const delegated = (prompt: string, title: string) => call("delegate", { tasks: [{ prompt, title }] });
    if (getPrompt(request) === "go") return delegated("below", "Child");
    return getPrompt(request) === "below" ? delegated("deep", "Deep") : call("bash", { command: "echo made >> made" });
  });
  await using rookery = await w.open();
  const session = await rookery.openSession();
  const turn = session.prompt("go");
  const asked: unknown[] = [];
  for await (const event of turn) {
    if (event.type !== "permission.requested") continue;
    asked.push([event.tool, event.from]);
    await session.answer(event.requestId, { decision: "allow" });
  }
  expect(asked).toEqual([["bash", "Child, Deep"]]);
  expect(await w.file("made")).toBe("made\n");
});
