import { writeFile } from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import type { McpServerSpec, SessionEvent, ToolSource } from "../domain/index.ts";
import { EVERYTHING, scriptedServer } from "../mcp/test-servers.ts";
import type { OpenSessionOptions } from "../rookery.ts";
import { call, collect, fault, say, type Script } from "../testing/index.ts";
import type { Plugin } from "../tools/index.ts";
import type { Session, Turn } from "./index.ts";
import { LATER, openScene, openWorld } from "./test-scene.ts";

const everything: McpServerSpec = {
  type: "stdio",
  name: "everything",
  command: process.execPath,
  args: [EVERYTHING, "stdio"],
  env: {},
};

const withServer = (...servers: McpServerSpec[]): OpenSessionOptions => ({ mcpServers: servers, permissions: "all" });

/** The model calls this tool, then repeats its result. */
const calling =
  (name: string, input: unknown = {}): Script =>
  ({ toolResults }) =>
    toolResults.length === 0
      ? call(name, input)
      : say(`Got: ${JSON.stringify(toolResults.map(({ content }) => content))}`);

function typed<Type extends SessionEvent["type"]>(events: readonly SessionEvent[], type: Type) {
  return events.filter((event): event is Extract<SessionEvent, { type: Type }> => event.type === type);
}

/** Answers every question and permission of a turn. */
async function attended(
  session: Session,
  turn: Turn,
  answer: Parameters<Session["answer"]>[1],
): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of turn) {
    events.push(event);
    if (event.type === "question.asked" || event.type === "permission.requested") {
      await session.answer(event.requestId, answer);
    }
  }
  return events;
}

describe("the built-in agent and its MCP servers", () => {
  it("calls their tools through the permission gate and records the calls", async () => {
    await using s = await openScene(calling("everything__echo", { message: "hello" }), { mcpServers: [everything] });
    const turn = s.session.prompt("go");
    const events = await attended(s.session, turn, { decision: "allow" });
    expect(typed(events, "permission.requested")).toMatchObject([{ tool: "everything__echo" }]);
    expect(typed(events, "tool.ended")).toMatchObject([{ outcome: "ok", text: "Echo: hello" }]);
    // With a slow store, the server has connected before its first status can be recorded.
    expect(typed(events, "mcp.status").at(-1)).toMatchObject({ server: "everything", status: "ready" });
    expect(s.model.requests[0]?.toolNames).toEqual(expect.arrayContaining(["bash", "read_result", "everything__echo"]));
  });

  it("sends returned images to the model", async () => {
    await using s = await openScene(calling("everything__get-tiny-image"), withServer(everything));
    const events = await collect(s.session.prompt("go"));
    expect(typed(events, "tool.ended")[0]?.blobs).toMatchObject([{ mediaType: "image/png" }]);
    expect(JSON.stringify(s.model.requests[1]?.body)).toContain('"type":"image"');
  });

  it("includes a server's instructions unless its tools are filtered out", async () => {
    const filter = `[agents.anthropic]\ntools = { deny = ["s__*"] }\n`;
    for (const [toml, said] of [
      ["", true],
      [filter, false],
    ] as const) {
      await using w = await openWorld([say("Hi")]);
      await w.configure(toml);
      await using rookery = await w.open();
      const session = await rookery.openSession(withServer(scriptedServer("s")));
      await collect(session.prompt("go"));
      expect(w.model.requests[0]?.system.includes("Use it well")).toBe(said);
      expect(w.model.requests[0]?.toolNames.includes("s__echo")).toBe(said);
      expect(session.tools.servers().servers[0]?.tools.length).toBeGreaterThan(5); // the snapshot is unfiltered
    }
  });

  it("cancels a turn while servers connect, and waits for them in the next turn", async () => {
    await using s = await openScene([say("Hi")], withServer(scriptedServer("s", "late=500")));
    const cancelled = s.session.prompt("go");
    await s.session.cancel();
    expect(await cancelled.outcome).toEqual({ status: "cancelled" });
    await collect(s.session.prompt("go"));
    expect(s.model.requests.map(({ toolNames }) => toolNames.includes("s__echo"))).toEqual([true]);
  });

  it("returns an answer from any process to the server that asked", async () => {
    await using s = await openScene(calling("s__ask"), withServer(scriptedServer("s")));
    const turn = s.session.prompt("go");
    const events = await attended(s.session, turn, { action: "accept", content: { name: "Ada" } });
    expect(typed(events, "question.asked")).toMatchObject([{ message: "Who are you?", from: "s", turnId: turn.id }]);
    expect(typed(events, "tool.ended")[0]?.text).toBe('{"action":"accept","content":{"name":"Ada"}}');
  });

  it("cancels a turn although a server's question is open", async () => {
    await using s = await openScene(calling("s__ask"), withServer(scriptedServer("s")));
    const turn = s.session.prompt("go");
    for await (const event of turn) if (event.type === "question.asked") void s.session.cancel();
    expect(await turn.outcome).toEqual({ status: "cancelled" });
    expect(s.session.state.requests).toEqual([]);
  });

  it.each([
    ["allowed", { decision: "allow" } as const, /"text":"Sampled."/],
    ["refused", { decision: "deny" } as const, /error/],
  ])("lets a server use its model after a permission: %s", async (_, decision, expected) => {
    const script: Script = ({ toolNames, toolResults }) =>
      toolNames.length === 0 ? say("Sampled.") : toolResults.length === 0 ? call("s__sample") : say("Done.");
    await using s = await openScene(script, { mcpServers: [scriptedServer("s")] });
    const turn = s.session.prompt("go");
    const events: SessionEvent[] = [];
    for await (const event of turn) {
      events.push(event);
      if (event.type !== "permission.requested") continue;
      await s.session.answer(event.requestId, event.tool === "sampling (s)" ? decision : { decision: "allow" });
    }
    expect(typed(events, "permission.requested").map(({ tool }) => tool)).toEqual(["s__sample", "sampling (s)"]);
    expect(typed(events, "tool.ended").find(({ text }) => expected.test(text))).toBeDefined();
  });

  it("asks for sampling although a tool of that name is granted, and withdraws the request with the call", async () => {
    const script: Script = ({ toolNames }) => (toolNames.length === 0 ? say("Sampled.") : call("s__sample"));
    await using s = await openScene(script, { mcpServers: [scriptedServer("s")] });
    const turn = s.session.prompt("go");
    for await (const event of turn) {
      if (event.type !== "permission.requested") continue;
      if (event.tool === "s__sample") await s.session.answer(event.requestId, { decision: "allow", scope: "session" });
      else {
        expect(s.session.state.grants).toEqual(["s__sample"]);
        expect(event.tool).not.toMatch(/^[\w-]+$/); // not a valid tool name
        void s.session.cancel();
      }
    }
    expect(await turn.outcome).toEqual({ status: "cancelled" });
    expect(s.session.state.requests).toEqual([]);
  });

  it("sends a notice about a question in a call only after the call's result", async () => {
    const script: Script = ({ toolNames, toolResults }) =>
      toolNames.length === 0 ? say("Sampled.") : toolResults.length === 0 ? call("s__sample") : say("Done.");
    await using s = await openScene(script, withServer(scriptedServer("s")));
    await collect(s.session.prompt("go"));
    await collect(s.session.prompt("go on"));
    const told = JSON.stringify(s.model.requests.at(-1)?.body);
    expect(told.indexOf("s asks the model")).toBeGreaterThan(told.indexOf('"tool_result"'));
  });

  it("does not resend an image that the provider refused", async () => {
    const script: Script = (_, index) => (index === 0 ? call("s__mixed") : index === 1 ? fault(400) : say("Hi."));
    await using s = await openScene(script, withServer(scriptedServer("s")));
    expect(await s.session.prompt("go").outcome).toMatchObject({ status: "failed", code: "provider_refused" });
    await collect(s.session.prompt("go on"));
    const [, refused, next] = s.model.requests.map(({ body }) => JSON.stringify(body).includes('"type":"image"'));
    expect([refused, next]).toEqual([true, false]);
  });

  it("expands a server's prompt to the input of a turn", async () => {
    await using s = await openScene([say("Ok.")], withServer(scriptedServer("s")));
    const expanded = await s.session.expand("/s:review src/a.ts");
    await collect(s.session.prompt(expanded));
    expect(s.model.requests[0]?.lastUserText).toBe("Review src/a.ts");
    expect(await s.session.expand("/etc/passwd is a file")).toBe("/etc/passwd is a file");
    await expect(s.session.expand("/s:review")).rejects.toMatchObject({ code: "input_invalid", message: /file=…/ });
    await expect(s.session.expand("/s:nothing")).rejects.toMatchObject({
      message: expect.stringContaining("/s:review") as string,
    });
  });

  it("expands a prompt of one server although another hangs", async () => {
    await using s = await openScene([say("Ok.")], withServer(scriptedServer("s"), scriptedServer("t", "silent")));
    expect(await s.session.expand("/s:review src/a.ts")).toMatchObject([{ text: "Review src/a.ts" }]);
    expect(s.session.tools.servers().servers).toMatchObject([{ status: "ready" }, { status: "connecting" }]);
  });

  it("offers the tools that a server changes during a turn from the next step on", async () => {
    const script: Script = ({ toolResults }, index) => {
      if (index === 0) return call("s__rename");
      if (index === 1) return call("s__echo", { text: "still here?" });
      return index === 2 ? say(`Answer: ${toolResults[0]?.content}`) : say("Next.");
    };
    await using s = await openScene(script, withServer(scriptedServer("s")));
    const turn = s.session.prompt("go");
    for await (const event of turn) {
      if (event.type !== "question.asked") continue;
      await vi.waitFor(() => expect(s.session.tools.list().map(({ name }) => name)).toContain("s__shout"));
      await s.session.answer(event.requestId, { action: "accept" });
    }
    const [first, second, third] = s.model.requests;
    expect(first?.toolNames).toContain("s__echo");
    expect(first?.toolNames).not.toContain("s__shout");
    expect(second?.toolNames).toContain("s__shout");
    expect(second?.toolNames).not.toContain("s__echo");
    expect(third?.toolNames).toEqual(second?.toolNames);
    expect(third?.toolResults[0]?.content).toMatch(/^s__echo was removed since it was last offered; there is no tool/);
  });

  it.each([
    ["its server defers it", { ...scriptedServer("s"), defer: true }, ""],
    ["the catalog is too large", scriptedServer("s"), "[tools]\ndefer_over = 100\n"],
  ])("finds a tool by searching if %s, and asks and records under its real name", async (_, server, toml) => {
    const script: Script = ({ toolResults }, index) => {
      if (index === 0) return call("search_tools", { query: "repeats the text" });
      if (index > 1) return say("Done.");
      const found = toolResults[0]?.content.includes("s__echo") === true;
      return call("call_tool", { name: found ? "s__echo" : "none", arguments: { text: "found" } });
    };
    await using w = await openWorld(script);
    await w.configure(toml);
    await using rookery = await w.open();
    const session = await rookery.openSession({ mcpServers: [server] });
    const events = await attended(session, session.prompt("go"), { decision: "allow" });
    const told = w.model.requests[0]?.toolNames ?? [];
    expect(told).toEqual(expect.arrayContaining(["bash", "search_tools", "call_tool"]));
    expect(told.some((name) => name.startsWith("s__"))).toBe(false);
    expect(typed(events, "permission.requested")).toMatchObject([{ tool: "s__echo", input: { text: "found" } }]);
    expect(typed(events, "tool.ended").at(-1)).toMatchObject({ outcome: "ok", text: "found" });
  });

  it("reads resources, and reconnects a server on request", async () => {
    await using s = await openScene([], withServer(scriptedServer("s"), scriptedServer("t", "exit")));
    const { signal } = new AbortController();
    const { tools } = s.session;
    await tools.settled({ signal });
    expect(tools.servers().servers[0]?.resources).toMatchObject([{ server: "s", uri: "mem://a", name: "a" }]);
    expect(await tools.readResource("s", "mem://a", { signal })).toMatchObject([{ type: "text", text: "contents" }]);
    await expect(tools.readResource("none", "x", { signal })).rejects.toMatchObject({ code: "mcp_unknown" });
    await expect(tools.readResource("t", "x", { signal })).rejects.toMatchObject({ code: "mcp_unavailable" });
    const statuses = async () =>
      typed(await s.events(s.session.id), "mcp.status").filter(({ server }) => server === "t");
    tools.reconnect("t");
    await vi.waitFor(async () =>
      expect((await statuses()).map(({ status }) => status).slice(-3)).toEqual(["failed", "connecting", "failed"]),
    );
  });

  it("returns a handle for a long result, and reads the rest by it", async () => {
    const script: Script = ({ toolResults }, index) => {
      if (index === 0) return call("s__big", { bytes: 200_000 });
      const handle = /sha256:[0-9a-f]{64}/.exec(toolResults[0]?.content ?? "")?.[0];
      return index === 1 ? call("read_result", { handle, offset: 199_990 }) : say("Read.");
    };
    await using s = await openScene(script, withServer(scriptedServer("s")));
    const [big, read] = typed(await collect(s.session.prompt("go")), "tool.ended");
    expect(big?.text.length).toBeLessThan(60_000);
    expect(read?.text).toContain("xxxxxxxxxx");
    expect(read).toMatchObject({ outcome: "ok" });
  });
});

describe("configured servers", () => {
  it("are selected by name with variables expanded, and one with a missing variable reports it", async () => {
    await using w = await openWorld([say("Hi")]);
    const [command, ...args] = [process.execPath, scriptedServer("s").args[0]];
    await w.configure(
      `[mcp.good]\ncommand = ${JSON.stringify([command, ...args])}\n` +
        `[mcp.bad]\nurl = "http://127.0.0.1:9/"\nheaders = { Authorization = "Bearer $NO_SUCH_TOKEN" }\n` +
        `[mcp.other]\ncommand = ["false"]\n[agents.a]\nmodel = "anthropic/claude-sonnet-5"\nmcp = ["good", "bad"]\n`,
    );
    await using rookery = await w.open();
    const session = await rookery.openSession({ agent: "a" });
    await collect(session.prompt("go"));
    expect(session.tools.servers().servers).toMatchObject([
      { name: "good", status: "ready" },
      { name: "bad", status: "failed", reason: expect.stringContaining("NO_SUCH_TOKEN") as string },
    ]);
    expect(w.model.requests[0]?.toolNames).toContain("good__echo");
  });
});

const source = (id: string, name: string, text: string): ToolSource => ({
  id,
  list: () => [{ name, description: text, inputSchema: { type: "object" }, kind: "other", readOnly: true }],
  describe: () => ({ title: name }),
  call: () => Promise.resolve({ outcome: "ok", text }),
});

describe("an overlay of a session", () => {
  it("replaces or hides base tools, and stays when the agent changes", async () => {
    await using w = await openWorld(({ toolResults }) => (toolResults.length === 0 ? call("read", {}) : say("Done.")));
    await w.configure(`[agents.a]\nmodel = "anthropic/claude-a"\n[agents.b]\nmodel = "anthropic/claude-b"\n`);
    await using rookery = await w.open();
    const session = await rookery.openSession({ agent: "a", permissions: "all" });
    const contributions = [{ slot: "guidance", title: "House", content: "Speak softly." } as const];
    session.setOverlay({ sources: [source("o", "read", "overlaid")], contributions, base: false });
    const [ended] = typed(await collect(session.prompt("go")), "tool.ended");
    expect(ended?.text).toBe("overlaid");
    expect(w.model.requests[0]?.toolNames).toEqual(["read"]);
    expect(w.model.requests[0]?.system).toContain("Speak softly.");
    await session.change({ agent: "b" });
    await collect(session.prompt("go"));
    expect(w.model.requests.at(-1)?.toolNames).toEqual(["read"]);
  });
});

it("keeps the current agent if an overlay conflicts with the new one", async () => {
  await using w = await openWorld([say("Hi")]);
  await w.configure(`[agents.a]\nmodel = "anthropic/claude-a"\n[agents.b]\nmodel = "anthropic/claude-b"\n`);
  await using rookery = await w.open();
  const session = await rookery.openSession({ agent: "a" });
  let lost = false;
  const list = (): [] => {
    if (lost) throw new Error("lost");
    return [];
  };
  session.setOverlay({ sources: [{ ...source("o", "one", "x"), list }], contributions: [], base: true });
  lost = true;
  await expect(session.change({ agent: "b" })).rejects.toThrow("cannot list the tools of o: lost");
  await collect(session.prompt("go"));
  expect(session.state.agent).toBe("a");
  expect(w.model.requests[0]?.model).toBe("claude-a");
});

describe("a person's choice of tools", () => {
  it("is stored with the session", async () => {
    await using w = await openWorld([say("Hi"), say("Hi")]);
    let id: string;
    {
      await using rookery = await w.open();
      const session = await rookery.openSession({});
      id = session.id;
      await session.chooseTool("bash", false);
    }
    await using rookery = await w.open(LATER);
    const session = await rookery.openSession({ id });
    await collect(session.prompt("go"));
    expect(w.model.requests[0]?.toolNames).not.toContain("bash");
    expect(w.model.requests[0]?.toolNames).toContain("read");
  });
});

describe("a plugin", () => {
  const counting = (): Plugin => {
    let count = 0;
    return {
      id: "counter",
      version: "2",
      beforeCall: ({ call: { name } }) => (name === "bash" ? { refuse: `no bash, ${count} turns so far` } : undefined),
      turnEnded: () => void (count += 1),
      save: () => ({ count }),
      restore: (state) => void (count = (state as { count: number }).count),
    };
  };

  it("is named in the error if it cannot be created, and no session opens without it", async () => {
    await using w = await openWorld([]);
    const careless = (): Plugin => {
      throw new Error("no licence");
    };
    await using rookery = await (await import("../rookery.ts")).Rookery.open({ ...w.options, plugins: [careless] });
    await expect(rookery.openSession({})).rejects.toMatchObject({
      code: "plugin_failed",
      message: "cannot create the plugin of careless: no licence",
    });
  });

  it("sees calls and turns, and gets its saved state back", async () => {
    await using w = await openWorld(calling("bash", { command: "touch ran" }));
    const open = async () => (await import("../rookery.ts")).Rookery.open({ ...w.options, plugins: [counting] });
    let id: string;
    {
      await using rookery = await open();
      const session = await rookery.openSession({ permissions: "all" });
      id = session.id;
      const events = await collect(session.prompt("go"));
      expect(typed(events, "tool.ended")).toMatchObject([{ outcome: "denied", text: /no bash, 0 turns/ }]);
      expect(typed(events, "plugin.saved")).toMatchObject([{ plugin: "counter", version: "2", state: { count: 1 } }]);
    }
    await using rookery = await open();
    const session = await rookery.openSession({ id });
    const events = await collect(session.prompt("again"));
    expect(typed(events, "tool.ended").at(-1)?.text).toMatch(/no bash, 1 turns/);
    expect(await w.file("ran")).toBe("");
  });
});

it("fails the call of a killed server, reconnects it, and leaves no process", async () => {
  await using w = await openWorld(({ toolResults }) => (toolResults.length === 0 ? call("s__hang") : say("Went on.")));
  const journal = `${w.home}/journal`;
  await writeFile(journal, "");
  await using rookery = await w.open();
  const session = await rookery.openSession(withServer(scriptedServer("s", `journal=${journal}`)));
  const turn = session.prompt("go");
  const events: SessionEvent[] = [];
  for await (const event of turn) {
    events.push(event);
    if (event.type !== "tool.started") continue;
    const [started] = typed(events, "process.started");
    process.kill(started!.pid, "SIGKILL");
  }
  expect(typed(events, "tool.ended")).toMatchObject([{ outcome: "unknown", text: /s/ }]);
  expect(await turn.outcome).toMatchObject({ status: "done" });
  await vi.waitFor(() => expect(session.tools.list().map(({ name }) => name)).toContain("s__echo"), {
    timeout: 10_000,
  });
});
