import { describe, expect, it } from "vitest";
import type { SessionEvent, ToolSource } from "../../domain/index.ts";
import { Rookery } from "../../rookery.ts";
import type { Session } from "../../session/index.ts";
import { LATER, dyingAfter, openWorld } from "../../session/test-scene.ts";
import { systemClock } from "../../stdx/index.ts";
import { testSource } from "../../tools/test-source.ts";
import { call, collect, say, transcript, type Script } from "../../testing/index.ts";

/** Kills the process after every third commit; `ROOKERY_MATRIX=1` covers every commit. */
const STEP = process.env["ROOKERY_MATRIX"] === undefined ? 3 : 1;
const ON = "[agents.anthropic]\ncode = true\n";

const running =
  (code: string): Script =>
  ({ toolResults }) =>
    toolResults.length === 0 ? call("code", { code }) : say(`Got: ${toolResults[0]?.content}`);

function typed<Type extends SessionEvent["type"]>(events: readonly SessionEvent[], type: Type) {
  return events.filter((event): event is Extract<SessionEvent, { type: Type }> => event.type === type);
}

describe("a program in a session", () => {
  it("asks for permission and logs each call under its own id, and returns its value to the model", async () => {
    const code = `const r = await tools.bash({ command: "echo made > a.txt" });
const all = await Promise.all(["a.txt", "none"].map((path) => tools.read({ path })));
return [r, ...all].map((one) => one.outcome)`;
    await using w = await openWorld(running(code));
    await w.configure(ON);
    await using rookery = await w.open();
    const session = await rookery.openSession();
    const events: SessionEvent[] = [];
    for await (const event of session.prompt("go")) {
      events.push(event);
      if (event.type === "permission.requested") await session.answer(event.requestId, { decision: "allow" });
    }
    expect(typed(events, "permission.requested").map(({ tool }) => tool)).toEqual(["bash"]);
    const [program, ...calls] = typed(events, "tool.started");
    expect(calls.map(({ name, parent }) => [name, parent])).toEqual(
      ["bash", "read", "read"].map((name) => [name, program?.toolId]),
    );
    expect(new Set(typed(events, "tool.ended").map(({ toolId }) => toolId)).size).toBe(4);
    expect(transcript(events).at(-2)).toBe('says Got: => ["ok","ok","failed"]');
    expect(await w.file("a.txt")).toBe("made\n");
  });

  it("gets the outcome of a denied call and continues", async () => {
    await using w = await openWorld(running(`(await tools.bash({ command: "touch no" })).outcome`));
    await w.configure(ON);
    await using rookery = await w.open();
    const session = await rookery.openSession();
    const turn = session.prompt("go");
    for await (const event of turn) {
      if (event.type === "permission.requested") await session.answer(event.requestId, { decision: "deny" });
    }
    expect(transcript(await w.events(session.id))).toContain('says Got: => "denied"');
  });

  it("has the tools of its step if they changed in the step before", async () => {
    const code = `const seen = ["early", "late"].filter((name) => name in tools);
return [seen, (await tools.late({})).text]`;
    const script: Script = ({ toolResults }, index) => {
      if (index === 0) return call("early");
      return index === 1 ? call("code", { code }) : say(`Got: ${toolResults.at(-1)?.content}`);
    };
    await using w = await openWorld(script);
    await w.configure(ON);
    const spec = { description: "", inputSchema: { type: "object" }, kind: "other", readOnly: true } as const;
    let names = ["early"];
    const source: ToolSource = {
      id: "changing",
      list: () => names.map((name) => ({ ...spec, name })),
      describe: ({ name }) => ({ title: name }),
      call: async ({ name }) => {
        names = ["late"];
        return { outcome: "ok", text: `did ${name}` };
      },
    };
    await using rookery = await Rookery.open({
      ...w.options,
      plugins: [() => ({ id: "p", version: "1", sources: [source] })],
    });
    const session = await rookery.openSession({ permissions: "all" });
    const events = await collect(session.prompt("go"));
    expect(transcript(events).at(-2)).toBe('says Got: => [["late"],"did late"]');
  });

  it.each<[string, (names: Set<string>, session: Session) => unknown]>([
    ["removed", (names) => names.delete("early")],
    ["added", (names) => names.add("late")],
    ["renamed", (names) => names.delete("early") && names.add("late")],
    ["all removed", (names) => names.clear()],
    ["shadowed", (_, session) => session.setOverlay({ sources: [testSource("over", "early", "late")] })],
    ["hidden by an overlay", (_, session) => session.setOverlay({ sources: [], base: false })],
    ["switched off", (_, session) => session.chooseTool("early", false)],
  ])("keeps the tools that it sees after tools were %s while it runs", async (_, change) => {
    const code = `const before = Object.keys(tools).sort();
await tools.change({});
const after = Object.keys(tools).sort();
return [String(before) === String(after), "late" in tools, (await tools.early({})).text]`;
    await using w = await openWorld(running(code));
    await w.configure(ON);
    const names = new Set(["early", "change"]);
    const spec = { description: "", inputSchema: { type: "object" }, kind: "other", readOnly: true } as const;
    const source: ToolSource = {
      id: "changing",
      list: () => [...names].map((name) => ({ ...spec, name })),
      describe: ({ name }) => ({ title: name }),
      call: async ({ name }) => {
        if (name === "change") await change(names, session);
        return { outcome: "ok", text: `did ${name}` };
      },
    };
    await using rookery = await Rookery.open({
      ...w.options,
      plugins: [() => ({ id: "p", version: "1", sources: [source] })],
    });
    const session: Session = await rookery.openSession({ permissions: "all" });
    const events = await collect(session.prompt("go"));
    expect(transcript(events).at(-2)).toBe('says Got: => [true,false,"did early"]');
    expect(await session.prompt("again").outcome).toMatchObject({ status: "done" });
  });

  it("is cancelled with its turn while it waits for a tool", async () => {
    await using w = await openWorld(running(`await tools.bash({ command: "sleep 600" })`));
    await w.configure(ON);
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const turn = session.prompt("go");
    for await (const event of turn) {
      if (event.type === "tool.started" && event.name === "bash") void session.cancel();
    }
    expect(await turn.outcome).toEqual({ status: "cancelled" });
  });

  it("is not offered if it is disabled, and a call says how to enable it", async () => {
    await using w = await openWorld(running("1"));
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const events = await collect(session.prompt("go"));
    expect(w.model.requests[0]?.toolNames).not.toContain("code");
    expect(typed(events, "tool.ended")).toMatchObject([
      {
        outcome: "failed",
        text: expect.stringMatching(/disabled in this session: set code = true under \[agents\.anthropic\]/),
      },
    ]);
  });
});

describe("a program whose process is killed after any commit", () => {
  const code = `for (const n of [1, 2, 3]) await tools.bash({ command: "echo ran" + n + " >> count" });
(await tools.read({ path: "count" })).outcome`;

  /**
   * Runs a process that is killed after this many commits, then one that continues. Returns whether the first one was
   * killed.
   */
  async function dieAfter(commits: number): Promise<boolean> {
    await using w = await openWorld(running(code));
    await w.configure(ON);
    const dying = await w.open(systemClock, dyingAfter(w.store, commits));
    const first = await dying.openSession({ permissions: "all" });
    const died = await first.prompt("go").outcome.then(
      () => false,
      () => true,
    );
    await dying.close().catch(() => undefined);
    await using rookery = await w.open(LATER);
    const session = await rookery.openSession({ id: first.id, permissions: "all" });
    if (session.resumed !== undefined) expect(await session.resumed.outcome).toMatchObject({ status: "done" });
    else if (session.state.turns === 0) await session.prompt("go").outcome;
    const events = await w.events(first.id);
    expect(typed(events, "turn.ended")).toHaveLength(1);
    const started = typed(events, "tool.started").map(({ name }) => name);
    expect(started).toEqual(["code", "bash", "bash", "bash", "read"]);
    const ended = typed(events, "tool.ended");
    expect(new Set(ended.map(({ toolId }) => toolId)).size).toBe(ended.length);
    const ran = (await w.file("count")).split("\n").filter((line) => line !== "");
    expect(ran).toEqual([...new Set(ran)]); // no finished call ran again
    const unknown = ended.filter(({ outcome }) => outcome === "unknown").length;
    expect(ran.length).toBeGreaterThanOrEqual(3 - unknown); // a call is missing only if the log says that its outcome is unknown
    return died;
  }

  it("continues with the recorded results of its calls", { timeout: 120_000 }, async () => {
    let commits = 3;
    while (await dieAfter(commits)) commits += STEP;
    expect(commits).toBeGreaterThan(8);
  });
});
