import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { SessionEvent } from "../../domain/events.ts";
import { openSqliteStore } from "../../store/sqlite/open.ts";
import { call, fault, type Reply, say, type Script } from "../../testing/index.ts";
import { parseEventLines, openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
const SCRIPT: Script = [
  call("write", { path: "hello.txt", content: "hello" }, { text: "I will write it." }),
  say(["All ", "done."], { usage: { input: 1200, output: 34, cacheRead: 1000 } }),
];

async function opened(
  script: Script = SCRIPT,
  options?: Parameters<typeof openCommandFixture>[1],
): Promise<CommandFixture> {
  fixture = await openCommandFixture(script, options);
  return fixture;
}

afterEach(() => fixture[Symbol.asyncDispose]());

describe("on a pipe", () => {
  it("starts a session with the messages of a file, and shows them in the transcript", async () => {
    await opened([say("Of prey.")]);
    const messages = [
      { role: "user", text: "Is it a bird?" },
      { role: "assistant", text: "Yes." },
    ];
    await writeFile(join(fixture.repository.path, "messages.json"), JSON.stringify({ messages }));
    const { code, stdout } = await fixture.rookery(["run", "Which one?", "--messages", "messages.json"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Of prey.");
    expect(fixture.server.requests[0]?.messages.map(({ text }) => text)).toEqual([
      "Is it a bird?",
      "Yes.",
      "Which one?",
    ]);
    const shown = await fixture.rookery(["sessions", "show", "last"]);
    expect(shown.stdout).toContain("User: Is it a bird?");
    for (const args of [
      ["--messages", "none.json"],
      ["--messages", "messages.json", "--session", "last"],
    ]) {
      expect((await fixture.rookery(["run", "a", ...args])).code).toBe(2);
    }
  });

  it("prints a turn as text with one line per tool and the cost, without colors", async () => {
    await opened();
    const { code, stdout, stderr } = await fixture.rookery(["run", "write hello", "--permissions", "all"]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "I will write it.",
      "✓ write hello.txt",
      "  hello.txt new file +1",
      "  1 + hello",
      "    \\ no line break at the end",
      "All done.",
      expect.stringMatching(
        /^done · 1,\d{3} tokens in \(1,000 from cache\) · \d+ out · [<$\d.]+ \(computed\) · \d\.\ds$/,
      ),
      expect.stringMatching(/^session (\w{8}) · continue with: rookery run "…" --session \1$/),
      "",
    ]);
    expect(await fixture.repository.read("hello.txt")).toBe("hello");
  });

  it("exits with 3 if the budget is used up and nobody can be asked", async () => {
    await opened();
    const { code, stderr } = await fixture.rookery([
      "run",
      "write hello",
      "--permissions",
      "all",
      "--budget",
      "1tokens",
    ]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/used 120 of 1 token,.*--budget/);
    expect(await fixture.repository.read("hello.txt").catch(() => undefined)).toBe("hello");
  });

  it("removes control characters from the text of a model", async () => {
    await opened([say("red: \u001b[31m, title: \u001b]0;x\u0007, back\r.")]);
    const { stdout } = await fixture.rookery(["run", "x"]);
    expect(stdout).toContain("red: [31m, title: ]0;x, back.\n");
    expect(stdout).not.toContain("\u001b");
  });

  it("computes a cost from a configured price", async () => {
    await opened(SCRIPT, {
      files: { "rookery.toml": `[prices."anthropic/claude-sonnet-5"]\ninput = 1000\noutput = 0\n` },
    });
    await fixture.rookery(["trust"]);
    expect((await fixture.rookery(["run", "x", "--permissions", "all"])).stdout).toMatch(
      / · \$\d+\.\d\d \(computed\) · /,
    );
  });

  it.each([
    ["-", ["run", "-"]],
    ["nothing", ["run"]],
  ])("reads the prompt %s from stdin", async (_, args) => {
    await opened([say("ok")]);
    expect(await fixture.rookery(args, { input: "from the pipe é" })).toMatchObject({ code: 0 });
    expect(JSON.stringify(fixture.server.requests[0]?.body)).toContain("from the pipe é");
  });
});

describe("--json", () => {
  it("prints only the events of the log", async () => {
    await opened();
    const { code, stdout, stderr } = await fixture.rookery(["run", "x", "--permissions", "all", "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    const events = parseEventLines(stdout).map((event) => SessionEvent.parse(event));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(0)?.type).toBe("session.opened");
    expect(events.at(-1)?.type).toBe("turn.ended");

    const log = await fixture.rookery(["sessions", "events", "last", "--all", "--json"]);
    expect(log.stdout).toBe(stdout);
  });

  it("prints only new events of a continued session", async () => {
    await opened([say("one"), say("two")]);
    const first = parseEventLines((await fixture.rookery(["run", "a", "--json"])).stdout);
    const second = parseEventLines((await fixture.rookery(["run", "b", "--json", "--session", "last"])).stdout);
    expect(second[0]?.seq).toBe((first.at(-1)?.seq ?? 0) + 1);
    expect(second.at(-1)).toMatchObject({ type: "turn.ended", sessionId: first[0]?.sessionId });
    expect(fixture.server.requests[1]?.messages).toHaveLength(3);
  });
});

it.each([
  ["cut short by the model's limit", say("half of", { stopReason: "max_tokens" }), "reply_truncated"],
  ["refused by the model", say("", { stopReason: "refusal" }), "reply_refused"],
])("fails with one line if a reply was %s", async (_, reply, code) => {
  await opened([reply]);
  const ended = await fixture.rookery(["run", "x"]);
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringMatching(/^rookery: [^\n]+\n$/)]);
  const log = parseEventLines((await fixture.rookery(["sessions", "events", "last", "--json"])).stdout);
  expect(log.at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "failed", code } });
});

describe("permissions without a terminal", () => {
  it("are denied with exit code 3 and a message that tells how to allow them", async () => {
    await opened();
    const { code, stdout, stderr } = await fixture.rookery(["run", "x"]);
    expect(code).toBe(3);
    expect(stdout).toContain("⊘ write hello.txt — denied\nAll done.\n");
    expect(stderr).toBe(
      "rookery: denied because nobody could answer: write hello.txt; allow with --permissions all, " +
        "or wait for rookery answer with --permissions ask\n",
    );
  });

  it.each([
    ["read", 0],
    ["none", 0],
  ])("are decided by --permissions %s with exit code %i", async (policy, expected) => {
    await opened();
    const { code, stdout, stderr } = await fixture.rookery(["run", "x", "--permissions", policy]);
    expect([code, stderr]).toEqual([expected, ""]);
    expect(stdout).toContain("⊘ write hello.txt");
  });

  it.each([
    ["allow", "✓ write hello.txt"],
    ["deny", "⊘ write hello.txt — denied"],
  ])("wait with --permissions ask until another process answers %s", async (word, shown) => {
    await opened();
    const running = fixture.start(["run", "x", "--permissions", "ask"]);
    const [, session = "", request = ""] = await running.waitForOutput(/answer with: rookery answer (\S+) (\S+) allow/);
    const state = await fixture.rookery(["sessions", "show", session]);
    expect(state.stdout).toContain(
      `\nwaiting for a decision on write:\n  hello.txt new file +1\n  1 + hello\n    \\ no line break at the end\n` +
        `answer with: rookery answer ${session} ${request} allow\n`,
    );

    expect(await fixture.rookery(["answer", session, request, word])).toMatchObject({ code: 0, stderr: "" });
    expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining(shown) });
    expect(await fixture.rookery(["answer", session, request, word])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`request ${request} does not need an answer anymore`),
    });
  });
});

it("prints an open request completely in run and in sessions show", async () => {
  await opened([call("bash", { command: "echo harmless\ntouch pwned", timeout_ms: 5000 }), say("ok")]);
  const running = fixture.start(["run", "x", "--permissions", "ask"]);
  const [told = "", session = "", request = ""] = await running.waitForOutput(
    /^rookery: waiting for[^]*answer with: rookery answer (\S+) (\S+) allow\n/m,
  );
  const whole = "command (2 lines):\n  │ echo harmless\n  │ touch pwned\n  timeout_ms: 5000\nanswer with: ";
  expect(told).toContain(`rookery: waiting for a decision on bash:\n  ${whole}`);
  expect((await fixture.rookery(["sessions", "show", session])).stdout).toContain(
    `\nwaiting for a decision on bash:\n  ${whole}`,
  );
  const log = await fixture.rookery(["sessions", "events", session]);
  expect(log.stdout).toContain(`permission.requested ${request} bash {"command":"echo harmless\\ntouch pwned"`);
  await fixture.rookery(["answer", session, request, "deny"]);
  await running.ended;
});

describe("a turn of a killed process", () => {
  it("continues, and another process answers its question", async () => {
    await opened();
    const first = fixture.start(["run", "x", "--permissions", "ask"]);
    const [, session = "", request = ""] = await first.waitForOutput(/rookery answer (\S+) (\S+) allow/);
    first.child.kill("SIGKILL");
    await first.ended;

    const second = fixture.start(["run", "--session", session, "--permissions", "ask"]);
    await second.waitForOutput(new RegExp(`rookery answer ${session} ${request} allow`));
    expect(await fixture.rookery(["answer", session, request, "allow"])).toMatchObject({ code: 0 });
    expect(await second.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("All done.") });
    expect(await fixture.repository.read("hello.txt")).toBe("hello");

    const log = parseEventLines((await fixture.rookery(["sessions", "events", session, "--json"])).stdout);
    expect(log.filter(({ type }) => type === "turn.started" || type === "turn.ended")).toHaveLength(2);
  });

  it("names the tool with an unknown outcome", async () => {
    await opened([call("bash", { command: "echo up; sleep 300" }), say("went on")]);
    const first = fixture.start(["run", "x", "--permissions", "all", "--json"]);
    const [, session = ""] = await first.waitForOutput(/"sessionId":"(\w+)"/);
    await first.waitForOutput(/"tool\.updated"/);
    first.child.kill("SIGKILL");
    await first.ended;
    const { stdout } = await fixture.rookery(["run", "--session", session]);
    expect(stdout).toMatch(/\? bash: echo up; sleep 300 — .*may or may not have run/);
  });

  it("continues before the next prompt", async () => {
    await opened([fault("stall", { text: "never" }), say("went on"), say("and further")]);
    const first = fixture.start(["run", "x", "--json"]);
    await fixture.server.received(0);
    const [, session = ""] = await first.waitForOutput(/"sessionId":"(\w+)"/);
    first.child.kill("SIGKILL");
    await first.ended;
    const { code, stdout } = await fixture.rookery(["run", "more", "--session", session]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/went on\ndone[^\n]*\nand further\ndone/);
  });

  describe("with queued inputs", () => {
    /** Creates a session with two queued inputs, interrupted during its first turn or after it. */
    async function left(script: Script, { midTurn }: { midTurn: boolean }): Promise<string> {
      await opened([midTurn ? fault("stall", { text: "never" }) : say("zero"), ...(script as readonly Reply[])]);
      const first = fixture.start(["run", "x", "--json"]);
      const [, session = ""] = await first.waitForOutput(/"sessionId":"(\w+)"/);
      if (midTurn) {
        await fixture.server.received(0);
        first.child.kill("SIGKILL");
      }
      await first.ended;
      await using store = await openSqliteStore({ path: join(fixture.home, ".rookery", "rookery.db") });
      const { head } = (await store.summary(session)) ?? { head: 0 };
      const queued = ["one", "two"].map((text) => ({
        type: "input.queued" as const,
        at: new Date().toISOString(),
        agent: "anthropic",
        inputId: `inp_${text}`,
        input: [{ type: "text" as const, text }],
      }));
      await store.append({ sessionId: session, id: "app_queue", expectedHead: head, events: queued });
      return session;
    }

    it.each([
      ["continues, runs them, then the prompt", true, [say("went on"), say("first"), say("second"), say("last")]],
      ["runs them before the prompt if no turn was open", false, [say("first"), say("second"), say("last")]],
    ])("%s", async (_, midTurn, script) => {
      const session = await left(script, { midTurn });
      const { code, stdout, stderr } = await fixture.rookery(["run", "more", "--session", session]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/first\ndone[^\n]*\nsecond\ndone[^\n]*\nlast\ndone/);
    });

    it("continues without a prompt", async () => {
      const session = await left([say("first"), say("second")], { midTurn: false });
      const { code, stdout } = await fixture.rookery(["run", "--session", session]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/first\ndone[^\n]*\nsecond\ndone/);
    });

    it("keeps them after a cancel", async () => {
      const session = await left([fault("stall", { text: "never" })], { midTurn: false });
      const running = fixture.start(["run", "more", "--session", session]);
      await fixture.server.received(1);
      running.child.kill("SIGINT");
      expect((await running.ended).code).toBe(130);
      const { stdout } = await fixture.rookery(["sessions", "show", session]);
      expect(stdout).toMatch(/^queued inputs +1$/m);
      expect(fixture.server.requests).toHaveLength(2);
    });
  });

  it("reports a session without a turn to continue", async () => {
    await opened([say("one")]);
    await fixture.rookery(["run", "x"]);
    const { code, stderr } = await fixture.rookery(["run", "--session", "last"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^rookery: session \w{8} has no turn to continue; send a prompt: .*\n$/);
  });
});

describe("signals", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s cancels the turn and records it", async (signal) => {
    await opened([fault("stall", { text: "never" })]);
    const running = fixture.start(["run", "x"]);
    await fixture.server.received(0);
    running.child.kill(signal);
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    expect(stdout).toMatch(/^cancelled · \d/m);
    const log = parseEventLines((await fixture.rookery(["sessions", "events", "last", "--json"])).stdout);
    expect(log.at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "cancelled" } });
  });

  it("quits immediately after a second Ctrl-C, even if a command does not stop", async () => {
    await opened([call("bash", { command: "trap '' TERM INT; echo started; sleep 60 & wait; sleep 60" })]);
    const running = fixture.start(["run", "x", "--permissions", "all", "--json"]);
    await running.waitForOutput(/"type":"tool.updated"/);
    running.child.kill("SIGINT");
    await running.waitForOutput(/press Ctrl-C again to quit immediately/);
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
  });

  it("cancels the turn quietly if the reader closes the pipe", async () => {
    await opened([say(Array<string>(500).fill("more "), { chunkDelayMs: 10 })]);
    const running = fixture.start(["run", "x"]);
    await running.waitForOutput(/more/);
    running.child.stdout.destroy();
    expect(await running.ended).toMatchObject({ code: 130, stderr: "" });
  });
});

describe("trust", () => {
  const files = {
    "rookery.toml": `[agents.mine]\nmodel = "anthropic/m"\nprompts = ["AGENTS.md"]\n`,
    "AGENTS.md": "be kind",
  };

  it("is required before the configuration of a repository is used (exit code 3)", async () => {
    await opened([say("ok")], { files });
    const { code, stderr, stdout } = await fixture.rookery(["run", "x"]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(
      /^rookery: .* is not trusted yet: it contains rookery\.toml, AGENTS\.md; .* run: rookery trust \/\S+\n$/,
    );
    expect(fixture.server.requests).toHaveLength(0);

    const command = /run: rookery trust (\S+)/.exec(stderr)?.[1] ?? "";
    expect(await fixture.rookery(["trust", command])).toMatchObject({ code: 0 });
    expect(await fixture.rookery(["run", "x"])).toMatchObject({ code: 0 });
    expect(JSON.stringify(fixture.server.requests[0]?.body)).toContain("be kind");
  });

  it("gives the built-in agent AGENTS.md without a configuration, but only after trust", async () => {
    await opened([say("ok"), say("ok")], { files: { "AGENTS.md": "Always use tabs." } });
    const first = await fixture.rookery(["run", "x"]);
    expect(first.code).toBe(0);
    expect(first.stderr).toContain(
      "the agent does not get AGENTS.md until you trust the repository; review it, then run: rookery trust",
    );
    await fixture.rookery(["trust"]);
    expect((await fixture.rookery(["run", "x"])).stderr).toBe("");
    const [before, after] = fixture.server.requests.map((request) => JSON.stringify(request));
    expect(before).not.toContain("Always use tabs.");
    expect(after).toContain("Always use tabs.");
  });

  it("ends when a trusted file changes", async () => {
    await opened([say("ok")], { files });
    await fixture.rookery(["trust"]);
    await fixture.repository.write("AGENTS.md", "be cruel");
    const { code, stderr } = await fixture.rookery(["run", "x"]);
    expect(code).toBe(3);
    expect(stderr).toContain("was trusted, but AGENTS.md changed since");
  });
});
