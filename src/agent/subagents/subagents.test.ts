import { describe, expect, it } from "vitest";
import { call, collect, fault, say, transcript } from "../../testing/index.ts";
import { deferred } from "../../stdx/index.ts";
import { delegatingScript, openSubagentScene, getPrompt, lastToolText } from "./test-scene.ts";

const three = [
  { prompt: "say one", title: "First" },
  { prompt: "say two", title: "Second" },
  { prompt: "say three", title: "Third" },
];

describe("delegate", () => {
  it("runs children concurrently, each in its own session, and returns their reports in order", async () => {
    const all = deferred();
    let waiting = 0;
    const answered: string[] = [];
    await using w = await openSubagentScene(
      delegatingScript(three, async (request) => {
        waiting += 1;
        if (waiting === 3) all.resolve();
        await all.promise;
        const word = getPrompt(request).replace("say ", "");
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
    const report = lastToolText(events);
    expect(report.split("\n").filter((line) => /^(## |one|two|three)/.test(line))).toEqual([
      `## 1. First (done; session ${children[0]})`,
      "one",
      `## 2. Second (done; session ${children[1]})`,
      "two",
      `## 3. Third (done; session ${children[2]})`,
      "three",
    ]);
    expect(report).toContain("3 of 3 sub-agents completed. They used 300 input tokens and 30 output tokens");
    expect(session.state.usageOfSubagents).toMatchObject({ inputTokens: 300, outputTokens: 30 });
    expect(session.state.usage.inputTokens).toBeGreaterThan(300); // its own and the children's
    expect(w.model.problems).toEqual([]);
  });

  it("limits how many children run concurrently", async () => {
    const tasks = ["a", "b", "c", "d", "e"].map((prompt) => ({ prompt, title: prompt }));
    let running = 0;
    let most = 0;
    await using w = await openSubagentScene(
      delegatingScript(tasks, async (request) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return say(getPrompt(request));
      }),
    );
    await w.configure("[agents.anthropic.subagents]\nmax_running = 2\n");
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const report = lastToolText(await collect(session.prompt("go")));
    expect(report).toContain("5 of 5 sub-agents completed");
    expect(most).toBeLessThanOrEqual(2);
  });

  it("reports why one child failed, and the results of the others", async () => {
    await using w = await openSubagentScene(
      delegatingScript(three, (request) =>
        getPrompt(request) === "say two" ? fault(400, { message: "no" }) : say("fine"),
      ),
    );
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const events = await collect(session.prompt("go"));
    expect(lastToolText(events)).toMatch(/^2 of 3 sub-agents completed/);
    expect(lastToolText(events)).toMatch(/## 2\. Second \(failed: provider_refused: .*; session ses_/);
    expect(transcript(events).filter((line) => line === "subagent failed")).toHaveLength(1);
    expect(transcript(events).at(-1)).toBe("ended done");
  });

  it("runs another configured agent, and lists the agents if the name is unknown", async () => {
    const tasks = [
      { prompt: "print", title: "P", agent: "printer" },
      { prompt: "x", title: "X", agent: "nobody" },
    ];
    await using w = await openSubagentScene((request) => {
      if (request.toolResults.length === 0) return call("delegate", { tasks });
      const text = request.toolResults[0]?.content ?? "";
      return text.includes('no agent "nobody"') ? call("delegate", { tasks: tasks.slice(0, 1) }) : say("Heard.");
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
    expect(lastToolText(events)).toMatch(/## 1\. P \(done; session ses_\w+\)\nprinted print/);
    const [child = ""] = await w.childrenOf(session.id);
    expect(await w.store.summary(child)).toMatchObject({ agent: "printer", backend: "command" });
  });
});

describe("limits", () => {
  it("rejects more tasks than allowed in one call, and starts none", async () => {
    const long = three.map((task) => ({ ...task, title: "long ".repeat(1_000) }));
    await using w = await openSubagentScene(delegatingScript([...long, ...long, ...long], () => say("never")));
    await w.configure("[agents.anthropic.subagents]\nmax_width = 2\n");
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const events = await collect(session.prompt("go"));
    expect(transcript(events).find((line) => line.startsWith("tool "))?.length).toBeLessThan(400);
    expect(lastToolText(events)).toBe(
      "9 tasks are too many for one call: pass at most 2 in one call, and the rest in later calls",
    );
    expect(await w.childrenOf(session.id)).toEqual([]);
  });

  it("offers the tool to children only up to the maximum depth", async () => {
    const offered = new Map<string, boolean>();
    await using w = await openSubagentScene((request) => {
      const prompt = getPrompt(request);
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

  it("does not offer the tool if sub-agents are disabled", async () => {
    await using w = await openSubagentScene([say("ok")]);
    await w.configure("[agents.anthropic]\nsubagents = false\n");
    await using rookery = await w.open();
    await collect((await rookery.openSession()).prompt("go"));
    expect(w.model.requests[0]?.toolNames).not.toContain("delegate");
  });

  it("starts no child beyond the budget, and stops running ones", async () => {
    const held = deferred();
    await using w = await openSubagentScene(
      delegatingScript(three, async (request) => {
        if (getPrompt(request) === "say two") await held.promise;
        return say("dear", { usage: { input: 5_000, output: 10 } });
      }),
    );
    await w.configure("[agents.anthropic.subagents]\nbudget_tokens = 4000\nmax_running = 2\n");
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    const events = await collect(session.prompt("go"));
    held.resolve();
    const report = lastToolText(events);
    expect(report).toMatch(/## 1\. First \(done; /);
    expect(report).toMatch(/## 2\. Second \(cancelled; /);
    expect(report).toMatch(/## 3\. Third \(failed: subagent_limit: .* 50\d\d tokens of the 4000 .*; not started\)/);
    expect(transcript(events).at(-1)).toBe("ended done");
  });
});
