import { describe, expect, it } from "vitest";
import { call, collect, fault, say, transcript } from "../../testing/index.ts";
import { deferred } from "../../stdx/index.ts";
import { family, openFamily, promptOf, toldIn } from "./test-scene.ts";

const three = [
  { prompt: "say one", title: "First" },
  { prompt: "say two", title: "Second" },
  { prompt: "say three", title: "Third" },
];

describe("delegate", () => {
  it("runs its children at once, each in a session of its own, and tells what they said in the order asked", async () => {
    const all = deferred();
    let waiting = 0;
    const answered: string[] = [];
    await using w = await openFamily(
      family(three, async (request) => {
        waiting += 1;
        if (waiting === 3) all.resolve();
        await all.promise;
        const word = promptOf(request).replace("say ", "");
        return say(word, { usage: { input: 100, output: 10 }, firstByteDelayMs: word === "one" ? 50 : 0 });
      }),
    );
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const events = await collect(session.prompt("go"));
    for (const event of events) if (event.type === "subagent.ended") answered.push(event.childSessionId);

    const lines = transcript(events);
    expect(lines.slice(0, 3)).toEqual(["opened anthropic", "started go", "tool 3 sub-agents: First; Second; Third"]);
    expect(lines.filter((line) => line.startsWith("subagent "))).toHaveLength(6);
    expect(lines.slice(-3)).toEqual(["tool ok", "says All heard.", "ended done"]);
    const children = await w.childrenOf(session.id);
    expect(new Set(answered)).toEqual(new Set(children));
    for (const child of children) {
      expect(await w.store.summary(child)).toMatchObject({ parent: session.id, depth: 1, status: "idle", turns: 1 });
    }
    const told = toldIn(events);
    expect(told.split("\n").filter((line) => /^(## |one|two|three)/.test(line))).toEqual([
      `## 1. First (done; session ${children[0]})`,
      "one",
      `## 2. Second (done; session ${children[1]})`,
      "two",
      `## 3. Third (done; session ${children[2]})`,
      "three",
    ]);
    expect(told).toContain("3 of 3 sub-agents are done. They used 300 tokens in and 30 out");
    expect(session.state.usageOfSubagents).toMatchObject({ inputTokens: 300, outputTokens: 30 });
    expect(session.state.usage.inputTokens).toBeGreaterThan(300); // its own, and theirs
    expect(w.model.problems).toEqual([]);
  });

  it("has no more than so many run at once, and the others wait for their turn", async () => {
    const tasks = ["a", "b", "c", "d", "e"].map((prompt) => ({ prompt, title: prompt }));
    let running = 0;
    let most = 0;
    await using w = await openFamily(
      family(tasks, async (request) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return say(promptOf(request));
      }),
    );
    await w.configure("[agents.anthropic.subagents]\nmax_running = 2\n");
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const told = toldIn(await collect(session.prompt("go")));
    expect(told).toContain("5 of 5 sub-agents are done");
    expect(most).toBeLessThanOrEqual(2);
  });

  it("says of a child that fails why, and of the others what they said", async () => {
    await using w = await openFamily(
      family(three, (request) => (promptOf(request) === "say two" ? fault(400, { message: "no" }) : say("fine"))),
    );
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const events = await collect(session.prompt("go"));
    expect(toldIn(events)).toMatch(/^2 of 3 sub-agents are done/);
    expect(toldIn(events)).toMatch(/## 2\. Second \(failed: provider_refused: .*; session ses_/);
    expect(transcript(events).filter((line) => line === "subagent failed")).toHaveLength(1);
    expect(transcript(events).at(-1)).toBe("ended done");
  });

  it("drives another agent of the configuration, and tells which there are where one is not known", async () => {
    const tasks = [
      { prompt: "print", title: "P", agent: "printer" },
      { prompt: "x", title: "X", agent: "nobody" },
    ];
    await using w = await openFamily((request) => {
      if (request.toolResults.length === 0) return call("delegate", { tasks });
      const told = request.toolResults[0]?.content ?? "";
      return told.includes('no agent "nobody"') ? call("delegate", { tasks: tasks.slice(0, 1) }) : say("Heard.");
    });
    await w.configure(
      '[agents.anthropic]\n[agents.printer]\nbackend = "command"\ncommand = ["echo", "printed {prompt}"]\n',
    );
    await using rookery = await w.open();
    const session = await rookery.openSession({ agent: "anthropic", permissions: "all" });
    const events = await collect(session.prompt("go"));
    const [first] = events.filter((event) => event.type === "tool.ended");
    expect(first).toMatchObject({
      outcome: "failed",
      text: expect.stringMatching(/use one of anthropic, printer, .*\[agents\.NAME\]/),
    });
    expect(toldIn(events)).toMatch(/## 1\. P \(done; session ses_\w+\)\nprinted print/);
    const [child = ""] = await w.childrenOf(session.id);
    expect(await w.store.summary(child)).toMatchObject({ agent: "printer", backend: "command" });
  });
});

describe("limits", () => {
  it("refuses more tasks than fit in one call, in words, and begins none", async () => {
    const long = three.map((task) => ({ ...task, title: "long ".repeat(1_000) }));
    await using w = await openFamily(family([...long, ...long, ...long], () => say("never")));
    await w.configure("[agents.anthropic.subagents]\nmax_width = 2\n");
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const events = await collect(session.prompt("go"));
    expect(transcript(events).find((line) => line.startsWith("tool "))?.length).toBeLessThan(400);
    expect(toldIn(events)).toBe("9 tasks are too many: give at most 2 in one call, and the others in a later one");
    expect(await w.childrenOf(session.id)).toEqual([]);
  });

  it("gives the tool to children only as deep as is allowed", async () => {
    const offered = new Map<string, boolean>();
    await using w = await openFamily((request) => {
      const prompt = promptOf(request);
      offered.set(prompt, request.toolNames.includes("delegate"));
      if (request.toolResults.length > 0) return say(`${prompt} done`);
      if (prompt === "go") return call("delegate", { tasks: [{ prompt: "child" }] });
      return prompt === "child" ? call("delegate", { tasks: [{ prompt: "grandchild" }] }) : say("deep");
    });
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    await collect(session.prompt("go"));
    expect(Object.fromEntries(offered)).toEqual({ go: true, child: true, grandchild: false });
    const [child = ""] = await w.childrenOf(session.id);
    const [grandchild = ""] = await w.childrenOf(child);
    expect(await w.store.summary(grandchild)).toMatchObject({ parent: child, depth: 2 });
  });

  it("is not there where it is switched off", async () => {
    await using w = await openFamily([say("ok")]);
    await w.configure("[agents.anthropic]\nsubagents = false\n");
    await using rookery = await w.open();
    await collect((await rookery.openSession()).prompt("go"));
    expect(w.model.requests[0]?.toolNames).not.toContain("delegate");
  });

  it("begins none past the budget, and stops those that run", async () => {
    const held = deferred();
    await using w = await openFamily(
      family(three, async (request) => {
        if (promptOf(request) === "say two") await held.promise;
        return say("dear", { usage: { input: 5_000, output: 10 } });
      }),
    );
    await w.configure("[agents.anthropic.subagents]\nbudget_tokens = 4000\nmax_running = 2\n");
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const events = await collect(session.prompt("go"));
    held.resolve();
    const told = toldIn(events);
    expect(told).toMatch(/## 1\. First \(done; /);
    expect(told).toMatch(/## 2\. Second \(cancelled; /);
    expect(told).toMatch(/## 3\. Third \(failed: subagent_limit: .* 50\d\d tokens of the 4000 .*; not begun\)/);
    expect(transcript(events).at(-1)).toBe("ended done");
  });
});
