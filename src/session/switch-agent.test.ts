import { describe, expect, it } from "vitest";
import { call, collect, fault, say, transcript, writeAcpAgent, type Reply } from "../testing/index.ts";
import { systemClock } from "../stdx/index.ts";
import { LATER, dyingAfter, openScene, openWorld } from "./test-scene.ts";

const REVIEWER = `
[agents.reviewer]
backend = "api"
model = "anthropic/claude-reviewer"
permissions = "none"
`;

type Scene = Awaited<ReturnType<typeof openScene>>;

/** The last request, and its model. */
function given({ model }: Pick<Scene, "model">) {
  const { model: name, messages } = model.requests.at(-1)!;
  return { name, texts: messages.map(({ role, text }) => `${role} ${text}`) };
}

describe("reopening with another agent", () => {
  it("records the switch, uses the agent's model, and keeps conversation and grants", async () => {
    await using s = await openScene([say("one"), call("bash", { command: "true" }), say("two")], {
      permissions: "all",
      model: "anthropic/claude-x",
    });
    await s.configure(REVIEWER);
    await s.session.prompt("first").outcome;
    await s.session[Symbol.asyncDispose]();
    const again = await s.rookery.openSession({ id: s.session.id, agent: "reviewer" });
    const events = await collect(again.prompt("second"));
    expect(transcript(events)).toEqual([
      "switched to reviewer",
      "opened reviewer",
      "started second",
      "tool bash: true",
      "tool ok",
      "says two",
      "ended done",
    ]);
    expect(events.map(({ agent }) => agent).slice(0, 3)).toEqual(["anthropic", "reviewer", "reviewer"]);
    expect(given(s).name).toBe("claude-reviewer");
    expect(given(s).texts.slice(0, 3)).toEqual(["user first", "assistant one", "user second"]);
    expect(await s.store.summary(again.id)).toMatchObject({ agent: "reviewer", model: "anthropic/claude-reviewer" });
  });

  it("records model, working directory and permissions for the next opener", async () => {
    await using s = await openScene([say("one")]);
    await s.configure(REVIEWER);
    await s.session[Symbol.asyncDispose]();
    const wanted = { agent: "reviewer", model: "anthropic/claude-y", cwd: s.home, permissions: "read" as const };
    const again = await s.rookery.openSession({ id: s.session.id, ...wanted });
    await again[Symbol.asyncDispose]();
    const { head } = again.state;
    const third = await s.rookery.openSession({ id: s.session.id });
    expect(third.state).toMatchObject({ ...wanted, head });
  });

  it("rejects an agent that is not configured and records nothing", async () => {
    await using s = await openScene([]);
    await s.session[Symbol.asyncDispose]();
    await expect(s.rookery.openSession({ id: s.session.id, agent: "other" })).rejects.toMatchObject({
      code: "agent_unknown",
    });
    expect(await s.lines()).toEqual(["opened anthropic"]);
  });

  it("ends a turn that a dead process left, because it belongs to the other agent", async () => {
    await using s = await openScene([call("bash", { command: "true" }), say("two")]);
    for await (const event of s.session.prompt("first")) if (event.type === "permission.requested") break;
    await s.configure(REVIEWER);
    const next = await s.open(LATER);
    const again = await next.openSession({ id: s.session.id, agent: "reviewer" });
    expect(again.resumed).toBeUndefined();
    expect((await s.lines()).slice(3)).toEqual([
      "answered r1 cancelled once by policy",
      "ended failed interrupted",
      "switched to reviewer",
      "opened reviewer",
    ]);
    await next.close();
  });

  it("is atomic if the process dies", async () => {
    for (let commits = 0, switched = false; !switched; commits += 1) {
      await using s = await openScene([say("one")]);
      await s.configure(REVIEWER);
      await s.session[Symbol.asyncDispose]();
      const dying = await s.open(systemClock, dyingAfter(s.store, commits));
      await dying.openSession({ id: s.session.id, agent: "reviewer" }).catch(() => undefined);
      const next = await (await s.open(LATER)).openSession({ id: s.session.id });
      const { agent, model } = next.state;
      switched = agent === "reviewer";
      expect(model).toBe(switched ? "anthropic/claude-reviewer" : "anthropic/claude-sonnet-5");
      await next[Symbol.asyncDispose]();
    }
  });
});

describe("the thoughts of a model", () => {
  const THOUGHT: Reply = { thinking: "hm", text: "one" };
  const thoughts = ({ model }: Pick<Scene, "model">) =>
    JSON.stringify(model.requests.at(-1)!.body).match(/"type":"thinking"/g)?.length ?? 0;

  it("are sent back only to that model", async () => {
    await using s = await openScene([THOUGHT, THOUGHT, say("three"), say("four")]);
    await s.configure(REVIEWER);
    await s.session.prompt("first").outcome;
    await s.session.prompt("second").outcome;
    expect(thoughts(s)).toBe(1);
    await s.session.change({ model: "anthropic/claude-other" });
    await s.session.prompt("third").outcome;
    expect(thoughts(s)).toBe(0);
    expect(given(s).texts).toEqual(["user first", "assistant one", "user second", "assistant one", "user third"]);
    await s.session.change({ model: "anthropic/claude-sonnet-5" });
    await s.session.prompt("fourth").outcome;
    expect(thoughts(s)).toBe(2);
    expect(s.model.problems).toEqual([]);
  });
});

describe("switching to a program and back", () => {
  it("sends the program's messages and calls to the built-in agent", async () => {
    await using s = await openScene([say("one"), say("three")]);
    const tool = { sessionUpdate: "tool_call", toolCallId: "t1", title: "Edit a.txt", kind: "edit" } as const;
    const { command } = await writeAcpAgent(s.home, {
      prompts: [
        [
          { say: ["Let me see."] },
          { update: { ...tool, status: "in_progress" } },
          { update: { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" } },
          { say: ["Done."] },
        ],
      ],
    });
    await s.configure(`[agents.program]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}`);
    await s.session.prompt("first").outcome;
    await s.session.change({ agent: "program" });
    expect(s.session.state).toMatchObject({ agent: "program", backend: "acp", model: undefined });
    expect(await s.session.prompt("second").outcome).toMatchObject({ status: "done" });
    expect(s.session.state.nativeId).toBeDefined();
    await s.session.change({ agent: "anthropic" });
    expect(s.session.state).toMatchObject({ backend: "api", model: "anthropic/claude-sonnet-5", nativeId: undefined });
    expect(await s.session.prompt("third").outcome).toMatchObject({ status: "done" });
    expect(given(s).texts).toEqual([
      "user first",
      "assistant one",
      "user second",
      "assistant Let me see.(Another agent used a tool here: Edit a.txt. Outcome: ok.)Done.",
      "user third",
    ]);
    expect(s.model.problems).toEqual([]);
  });
});

describe("changing a session that is open", () => {
  it("switches the agent between turns and keeps the session object", async () => {
    await using s = await openScene([say("one"), say("two")]);
    await s.configure(REVIEWER);
    await s.session.prompt("first").outcome;
    await s.session.change({ agent: "reviewer", permissions: "read" });
    expect(transcript(await collect(s.session.prompt("second")))).toEqual([
      "switched to reviewer",
      "opened reviewer",
      "started second",
      "says two",
      "ended done",
    ]);
    expect(s.session.state).toMatchObject({ agent: "reviewer", permissions: "read" });
  });

  it("applies another policy during a turn at once", async () => {
    await using s = await openScene([call("bash", { command: "true" }), call("bash", { command: "ls" }), say("two")]);
    for await (const event of s.session.prompt("first")) {
      if (event.type !== "permission.requested") continue;
      expect(event.requestId).toBe("r1"); // later calls do not ask
      await s.session.change({ permissions: "all", agent: "anthropic" });
      await s.session.answer("r1", { decision: "allow" });
    }
    expect(s.session.state).toMatchObject({ permissions: "all", lastOutcome: { status: "done" } });
  });

  it("to its current settings records nothing", async () => {
    await using s = await openScene([]);
    const { head, agent, model, cwd, permissions } = s.session.state;
    await s.session.change({});
    await s.session.change({ agent, cwd, permissions, ...(model !== undefined && { model }) });
    expect(s.session.state.head).toBe(head);
  });

  it.each([
    ["an unknown agent", { agent: "other" }, "agent_unknown"],
    ["a model without a provider", { model: "nonsense" }, "model_invalid"],
    ["a missing directory", { cwd: "/nowhere/at/all" }, "cwd_missing"],
    ["an agent whose program is missing", { agent: "gone" }, "agent_unavailable"],
  ])("to %s is rejected and leaves it unchanged", async (_, changes, code) => {
    await using s = await openScene([say("one")]);
    await s.configure(`[agents.gone]\nbackend = "acp"\ncommand = ["/nowhere/at/all"]`);
    const before = s.session.state;
    await expect(s.session.change(changes)).rejects.toMatchObject({ code });
    expect(s.session.state).toEqual(before);
    expect(await s.session.prompt("first").outcome).toMatchObject({ status: "done" });
  });

  it("to a missing model reports a lost agent at each prompt if the program cannot restart", async () => {
    await using s = await openScene([]);
    const { command } = await writeAcpAgent(s.home, {});
    const toml = (it: readonly string[]) => `[agents.program]\nbackend = "acp"\ncommand = ${JSON.stringify(it)}`;
    await s.configure(toml(command));
    const session = await s.rookery.openSession({ agent: "program" });
    await s.configure(toml(["/nowhere/at/all"]));
    await expect(session.change({ model: "none" })).rejects.toMatchObject({ code: "agent_unavailable" });
    const lost = expect.objectContaining({ code: "agent_unavailable", message: expect.stringContaining("/nowhere") });
    expect(() => session.prompt("first")).toThrow(lost as Error);
    await session.queue("later"); // for the next opener
    await session[Symbol.asyncDispose]();
    expect(session.state.queue).toHaveLength(1);
  });

  it("rejects prompts meanwhile and runs queued input afterward", async () => {
    await using s = await openScene([say("one")]);
    await s.configure(REVIEWER);
    const changing = s.session.change({ agent: "reviewer" });
    expect(() => s.session.prompt("now")).toThrow(expect.objectContaining({ code: "turn_in_progress" }));
    await s.session.queue("later");
    await s.session.idle();
    await changing;
    expect(await s.lines()).toEqual([
      "opened anthropic",
      "queued later",
      "switched to reviewer",
      "opened reviewer",
      "started later",
      "says one",
      "ended done",
    ]);
  });

  it("does not reopen a session that another process closed", async () => {
    await using s = await openScene([say("one")]);
    const elsewhere = await s.open();
    await elsewhere.endSession(s.session.id);
    const changed = await s.session.change({ permissions: "all" }).catch((error: unknown) => error);
    if (changed !== undefined) expect(changed).toMatchObject({ code: "session_closed" }); // it has read the event already
    expect(await s.store.summary(s.session.id)).toMatchObject({ status: "closed" });
    expect(() => s.session.prompt("first")).toThrow(expect.objectContaining({ code: "session_closed" }));
    await elsewhere.close();
  });

  it("closes the new agent if the session is released in the meantime", async () => {
    await using s = await openScene([say("one")]);
    await s.configure(REVIEWER);
    const changing = s.session.change({ agent: "reviewer" });
    await s.session[Symbol.asyncDispose]();
    await changing;
    await expect(s.session.change({ permissions: "all" })).rejects.toMatchObject({ code: "session_closed" });
    const again = await s.rookery.openSession({ id: s.session.id });
    expect(again.state.agent).toBe("reviewer");
  });
});

it("records another backend from the configuration, and forgets the program's session ID", async () => {
  await using w = await openWorld([say("one"), fault(500)]);
  const { command } = await writeAcpAgent(w.home, { prompts: [[{ say: ["hi"] }]] });
  const rookery = await w.open();
  await w.configure(`[agents.a]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}`);
  const session = await rookery.openSession({ agent: "a" });
  await session.prompt("first").outcome;
  await session[Symbol.asyncDispose]();
  await w.configure(`[agents.a]\nbackend = "api"\nmodel = "anthropic/claude-a"`);
  const again = await rookery.openSession({ id: session.id });
  expect(again.state).toMatchObject({ backend: "api", model: "anthropic/claude-a", nativeId: undefined });
  await rookery.close();
});
