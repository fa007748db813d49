import { describe, expect, it } from "vitest";
import { SessionEvent } from "../domain/index.ts";
import { call, calls, collect, fault, say, transcript } from "../testing/index.ts";
import { openScene as opened } from "./test-scene.ts";

describe("a turn", () => {
  it("streams, runs tools in order and ends once", async () => {
    await using s = await opened(
      [
        call("write", { path: "a.txt", content: "one\n" }, { text: "Writing." }),
        calls([
          { name: "read", input: { path: "a.txt" } },
          { name: "edit", input: { path: "a.txt", old_text: "one", new_text: "two" } },
        ]),
        call("bash", { command: "cat a.txt; exit 3" }),
        say("Done."),
      ],
      { permissions: "all" },
    );
    const events = await collect(s.session.prompt("go"));
    expect(transcript(events)).toEqual([
      "opened anthropic",
      "started go",
      "says Writing.",
      "tool write a.txt",
      "tool ok",
      "tool read a.txt",
      "tool ok",
      "tool edit a.txt",
      "tool ok",
      "tool bash: cat a.txt; exit 3",
      "tool failed",
      "says Done.",
      "ended done",
    ]);
    expect(await s.file("a.txt")).toBe("two\n");
    for (const event of events) expect(SessionEvent.parse(event)).toEqual(event);
    const results = s.model.requests.at(-1)!.toolResults;
    expect(results.at(-1)!.content).toBe("two\n\n[exit code 3]");
    expect(s.session.state.turn).toBeUndefined();
  });

  it("sends the conversation so far in the next turn", async () => {
    await using s = await opened([call("bash", { command: "echo hi" }), say("first"), say("second")], {
      permissions: "all",
    });
    await s.session.prompt("one").outcome;
    expect(transcript(await collect(s.session.prompt("two")))).toEqual(["started two", "says second", "ended done"]);
    const body = s.model.requests.at(-1)!.body as { messages: { role: string }[] };
    expect(body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  });

  it.each([
    ["a wrong key", fault(401), "provider_auth"],
    ["an unknown model", fault(404), "model_not_found"],
    ["a refused request", fault(400), "provider_refused"],
  ])("fails with a message on %s, and the session continues", async (_, broken, code) => {
    await using s = await opened((_request, index) => (index === 0 ? broken : say("well")));
    expect(await s.session.prompt("go").outcome).toMatchObject({ status: "failed", code });
    expect(await s.session.prompt("again").outcome).toMatchObject({ status: "done" });
  });

  it.each([
    ["a truncated stream", fault("cut", { text: ["half ", "a ", "sentence"], afterEvents: 4 })],
    ["a stream of garbage", fault("garbage", { text: ["half ", "a "], afterEvents: 3 })],
  ])("retries after %s and records a notice", async (_, broken) => {
    await using s = await opened((_request, index) => (index === 0 ? broken : say("well")));
    expect(transcript(await collect(s.session.prompt("go")))).toEqual([
      "opened anthropic",
      "started go",
      "notice provider_retry",
      "says well",
      "ended done",
    ]);
  });

  it("returns an error to the model for an invalid call", async () => {
    await using s = await opened([call("nothing", { a: 1 }), call("read", { path: 7 }), say("oh")]);
    const events = await collect(s.session.prompt("go"));
    expect(transcript(events).filter((line) => line.startsWith("tool"))).toEqual([
      "tool nothing",
      "tool failed",
      "tool read",
      "tool failed",
    ]);
    expect(s.model.requests[1]!.toolResults[0]).toMatchObject({ isError: true });
  });
});

describe("the permission gate", () => {
  const script = () => [call("bash", { command: "touch made" }), call("bash", { command: "true" }), say("ok")];

  it.each([
    [
      "allow once",
      { decision: "allow" as const },
      ["answered r1 allow once by person", "tool bash: touch made", "tool ok", "asks r2 bash: true"],
    ],
    [
      "always",
      { decision: "allow" as const, scope: "session" as const },
      ["answered r1 allow session by person", "tool bash: touch made", "tool ok", "tool bash: true"],
    ],
    [
      "deny",
      { decision: "deny" as const, message: "not now" },
      ["answered r1 deny once by person", "tool bash: touch made", "tool denied", "asks r2 bash: true"],
    ],
  ])("accepts the answer %s from another process", async (_, answer, expected) => {
    await using s = await opened(script());
    const lines: string[] = [];
    for await (const event of s.session.prompt("go")) {
      lines.push(...transcript([event]));
      if (event.type === "permission.requested") await s.rookery.answer(s.session.id, event.requestId, answer);
    }
    expect(lines.slice(3, 3 + expected.length)).toEqual(expected);
  });

  it("denies with a message if nobody can be asked", async () => {
    await using s = await opened(script(), { attended: false });
    const lines = transcript(await collect(s.session.prompt("go")));
    expect(lines).toContain("answered r1 deny once by policy");
    expect(s.model.requests[1]!.toolResults[0]!.content).toContain("--permissions");
  });

  it.each(["read", "none"] as const)("denies a command under %s without asking", async (permissions) => {
    await using s = await opened(script(), { permissions });
    expect(transcript(await collect(s.session.prompt("go"))).filter((line) => line.startsWith("asks"))).toEqual([]);
  });

  it("rejects a second answer and an answer to a missing request", async () => {
    await using s = await opened([call("bash", { command: "true" }), say("ok")]);
    for await (const event of s.session.prompt("go")) {
      if (event.type !== "permission.requested") continue;
      await expect(s.session.answer("r9", { decision: "allow" })).rejects.toMatchObject({ code: "request_not_found" });
      await expect(s.session.answer("r1", { action: "accept" })).rejects.toMatchObject({ code: "usage" });
      await s.session.answer("r1", { decision: "allow" });
      await expect(s.session.answer("r1", { decision: "deny" })).rejects.toMatchObject({ code: "request_resolved" });
    }
  });
});

describe("cancelling", () => {
  it.each([
    ["during a model reply", fault("stall", { text: ["thinking ", "aloud"], afterEvents: 5 }), "message.delta"],
    ["during a tool call", call("bash", { command: "echo up; sleep 60" }), "tool.updated"],
  ] as const)("%s ends the turn once, and the session continues", async (_, reply, at) => {
    await using s = await opened((_request, index) => (index === 0 ? reply : say("later")), { permissions: "all" });
    const events = [];
    for await (const event of s.session.prompt("go")) {
      events.push(event);
      if (event.type === at && events.filter(({ type }) => type === at).length === 1) void s.session.cancel();
    }
    expect(events.filter(({ type }) => type === "turn.ended")).toMatchObject([{ outcome: { status: "cancelled" } }]);
    expect(await s.session.prompt("again").outcome).toMatchObject({ status: "done" });
  });

  it("resolves an open permission request as cancelled", async () => {
    await using s = await opened([call("bash", { command: "true" })]);
    const lines: string[] = [];
    for await (const event of s.session.prompt("go")) {
      lines.push(...transcript([event]));
      if (event.type === "permission.requested") void s.session.cancel();
    }
    expect(lines.slice(-2)).toEqual(["answered r1 cancelled once by policy", "ended cancelled"]);
  });
});

describe("a busy session", () => {
  it("rejects a second prompt, and runs a queued input next", async () => {
    await using s = await opened([call("bash", { command: "true" }), say("one"), say("two")]);
    const first = s.session.prompt("first");
    for await (const event of first) {
      if (event.type !== "permission.requested") continue;
      expect(() => s.session.prompt("second")).toThrow(expect.objectContaining({ code: "turn_in_progress" }));
      await s.session.queue("second");
      await s.session.answer(event.requestId, { decision: "allow" });
    }
    const lines: string[] = [];
    for await (const { event } of s.rookery.follow({ session: s.session.id })) {
      lines.push(...transcript([event]));
      if (event.type === "turn.ended" && lines.includes("says two")) break;
    }
    expect(lines.slice(-3)).toEqual(["started second", "says two", "ended done"]);
  });

  it("cannot be opened again while its driver lives", async () => {
    await using s = await opened([say("hi")]);
    await expect(s.rookery.openSession({ id: s.session.id })).rejects.toMatchObject({ code: "session_in_use" });
  });

  it("stops its turn when another process closes it", async () => {
    await using s = await opened([call("bash", { command: "true" })]);
    const lines: string[] = [];
    for await (const event of s.session.prompt("go")) {
      lines.push(...transcript([event]));
      if (event.type === "permission.requested") await s.rookery.endSession(s.session.id);
    }
    expect(lines).toContain("closed");
    expect(lines.at(-1)).toBe("ended cancelled");
    expect(() => s.session.prompt("more")).toThrow(expect.objectContaining({ code: "session_closed" }));
  });
});

describe("reopening", () => {
  it("records other permissions, and rejects an unknown agent", async () => {
    await using s = await opened([say("one"), call("bash", { command: "true" }), say("two")], { attended: false });
    await s.session.prompt("first").outcome;
    const id = s.session.id;
    await s.session[Symbol.asyncDispose]();
    await expect(s.rookery.openSession({ id, agent: "other" })).rejects.toMatchObject({ code: "agent_unknown" });
    const again = await s.rookery.openSession({ id, permissions: "all", attended: false });
    expect(transcript(await collect(again.prompt("second")))).toEqual([
      "opened anthropic",
      "started second",
      "tool bash: true",
      "tool ok",
      "says two",
      "ended done",
    ]);
  });

  it.each([
    ["a missing session", "ses_none", "session_not_found"],
    ["a closed session", "", "session_closed"],
  ])("rejects %s", async (_, id, code) => {
    await using s = await opened([]);
    await s.session.end("done with it");
    await expect(s.rookery.openSession({ id: id || s.session.id })).rejects.toMatchObject({ code });
  });
});

it.each([
  ["a port without a listener", "http://127.0.0.1:9"],
  ["a port that fetch refuses to try", "http://127.0.0.1:1"],
])("reports that it cannot reach %s", { timeout: 60_000 }, async (_, baseUrl) => {
  await using s = await opened([], { baseUrl });
  expect(await s.session.prompt("go").outcome).toMatchObject({ status: "failed", code: "provider_unreachable" });
});

it("rejects an empty or oversized prompt without recording it", async () => {
  await using s = await opened([say("hi")]);
  expect(() => s.session.prompt(" \n")).toThrow(expect.objectContaining({ code: "input_invalid" }));
  expect(() => s.session.prompt("x".repeat(10_000_000))).toThrow(expect.objectContaining({ code: "input_too_large" }));
  expect(s.session.state.head).toBe(1);
});
