import { describe, expect, it } from "vitest";
import { call, calls, fault, say, startModelServer, type Reply } from "../testing/index.ts";
import type { ModelReply } from "../domain/model.ts";
import { MAX_REPLY_CHARACTERS, ReplyBuilder } from "./reply.ts";
import { toFollowUpMessages, openTestModel, collectParts, requestReply, user, WIRES } from "./test-models.ts";

describe.each(WIRES)("over %s", (wire) => {
  it.each<[string, Reply]>([
    ["a text", say(["a", "b", "c"])],
    ["a call", call("bash", { command: "ls -l" }, { text: "So" })],
    [
      "two calls",
      calls([
        { name: "bash", input: { command: "ls" } },
        { name: "bash", input: { command: "pwd" } },
      ]),
    ],
  ])("delivers %s completely or fails, wherever its stream ends", async (_, reply) => {
    const said = ({ text, calls: made, stopReason }: ModelReply) => ({
      text,
      stopReason,
      inputs: made.map((c) => c.input),
    });
    await using server = await startModelServer([reply]);
    const whole = said(await requestReply(openTestModel(wire, server.url)));
    let failures = 0;
    for (let afterEvents = 0; ; afterEvents += 1) {
      await using early = await startModelServer([fault("eof", { ...reply, afterEvents })]);
      const heard = await requestReply(openTestModel(wire, early.url)).then(said, (error: unknown) => error);
      if (!(heard instanceof Error)) {
        expect(heard).toEqual(whole);
        break;
      }
      expect(heard).toMatchObject({ code: "provider_failed", retry: {} });
      failures += 1;
    }
    expect(failures).toBeGreaterThan(wire === "google" ? 0 : 3); // Gemini sends calls together with the end
  });

  it("gives calls with the same id different ids, also when they are sent back", async () => {
    const command = (text: string) => ({ id: "same", name: "bash", input: { command: text } });
    await using server = await startModelServer([calls([command("A"), command("B")]), say("Ok.")]);
    const model = openTestModel(wire, server.url);
    const { text, calls: made, native } = await requestReply(model);
    expect(new Set(made.map(({ toolId }) => toolId)).size).toBe(2);
    const results = made.map(({ toolId, name, input }) => ({
      toolId,
      name,
      text: JSON.stringify(input),
      failed: false,
    }));
    await requestReply(model, [
      user("Go"),
      { role: "assistant", text, calls: made, native },
      { role: "tool", results },
    ]);
    expect(server.problems).toEqual([]);
    const asked = server.requests.at(-1)!.messages.flatMap(({ toolCalls }) => toolCalls);
    const inputs = new Map(asked.map(({ id, input }) => [id, JSON.stringify(input)]));
    const answered = server.requests.at(-1)!.messages.flatMap(({ toolResults }) => toolResults);
    expect(answered.map(({ id }) => inputs.get(id))).toEqual(['{"command":"A"}', '{"command":"B"}']);
    expect(answered.map(({ content }) => content)).toEqual(['{"command":"A"}', '{"command":"B"}']);
  });

  it("never sends half a surrogate pair", async () => {
    const half = "a\ud83d";
    await using server = await startModelServer([say("Ok."), say("Ok.")]);
    const made = [{ toolId: "t", name: "bash", input: { command: half } }];
    const [provider, model] = openTestModel(wire, server.url).name.split("/");
    const native = {
      provider,
      model,
      content: [
        { type: "text", text: half },
        { type: "tool-call", toolCallId: "t", toolName: "bash", input: { deep: [half] } },
      ],
    };
    for (const given of [undefined, native]) {
      await requestReply(openTestModel(wire, server.url), [
        user(half),
        { role: "assistant", text: half, calls: made, native: given },
        { role: "tool", results: [{ toolId: "t", name: "bash", text: half, failed: false }] },
      ]);
    }
    const sent = server.requests.map(({ body }) => JSON.stringify(body));
    expect(sent.filter((body) => /\\ud83d/i.test(body))).toEqual([]);
    expect(sent.every((body) => body.includes("a\ufffd"))).toBe(true);
  });

  it("streams thoughts, text and calls, and delivers them complete at the end", async () => {
    const usage = {
      input: 100,
      output: 30,
      cacheRead: 40,
      reasoning: 10,
      ...(CACHE_WRITES[wire] && { cacheWrite: 5 }),
    };
    await using server = await startModelServer([
      call("bash", { command: "ls" }, { thinking: ["hm", "m"], text: ["a", "b"], usage }),
    ]);
    const parts = await collectParts(openTestModel(wire, server.url));
    const of = (type: string) => parts.flatMap((part) => (part.type === type && "text" in part ? [part.text] : []));
    expect(of("thought").join("")).toBe("hmm");
    expect(of("text")).toEqual(["a", "b"]);
    expect(parts.at(-1)).toMatchObject({
      type: "reply",
      reply: {
        text: "ab",
        calls: [{ name: "bash", input: { command: "ls" } }],
        stopReason: "tool-calls",
        usage: {
          inputTokens: 100,
          outputTokens: 30,
          cacheReadTokens: 40,
          cacheWriteTokens: usage.cacheWrite ?? 0,
          reasoningTokens: 10,
        },
      },
    });
  });

  it("accepts a reply without content", async () => {
    await using server = await startModelServer([{ text: "" }]);
    const { text, calls: made, native } = await requestReply(openTestModel(wire, server.url));
    expect({ text, made }).toEqual({ text: "", made: [] });
    expect(native).toMatchObject({ content: [] });
  });

  it("delivers a reply of 5 MB with 200 calls and sends it back", async () => {
    const long = "0123456789abcdef".repeat(65_536);
    const many = Array.from({ length: 200 }, (_, index) => ({ name: "bash", input: { command: `echo ${index}` } }));
    const reply = calls(many, { text: Array.from({ length: 5 }, () => long) });
    await using server = await startModelServer([reply, say("Ok.")]);
    const model = openTestModel(wire, server.url);
    const heard = await requestReply(model);
    expect(heard.text.length).toBe(5 * long.length);
    expect(heard.calls.map(({ input }) => input)).toEqual(many.map(({ input }) => input));
    await requestReply(model, [user("Go"), ...toFollowUpMessages(heard)]);
    expect(server.problems).toEqual([]);
    expect(server.requests[1]?.toolResults).toHaveLength(200);
  });

  it.each([
    ["not JSON", '{"command": "ls', "the arguments are not valid JSON"],
    ["not an object", "[1]", "the arguments are not a JSON object"],
  ])("marks a call as invalid if its arguments are %s", async (_, written, words) => {
    await using server = await startModelServer([calls([{ name: "bash", input: {}, written }]), say("Ok.")]);
    const model = openTestModel(wire, server.url);
    const reply = await requestReply(model);
    const invalid = expect.stringContaining(wire === "google" ? "the arguments are not" : words) as string;
    expect(reply.calls).toMatchObject([{ name: "bash", invalid }]);
    await requestReply(model, [user("Go"), ...toFollowUpMessages(reply)]);
    expect(server.problems).toEqual([]);
  });

  it("rejects with the abort reason", async () => {
    await using server = await startModelServer([fault("stall", { text: ["a", "b"] })]);
    const giveUp = new AbortController();
    const asked = requestReply(openTestModel(wire, server.url), [user("Go")], { signal: giveUp.signal });
    await server.received(0);
    giveUp.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
    expect(await server.ended(0)).toBe("aborted");
  });

  it("sends one request per call, even if it fails", async () => {
    for (const failing of [fault(500), fault(429), fault("reset"), fault("cut", { text: ["a", "b"] })]) {
      await using server = await startModelServer([failing, say("Ok.")]);
      await expect(requestReply(openTestModel(wire, server.url))).rejects.toMatchObject({ retry: {} });
      expect(server.requests).toHaveLength(1);
    }
  });
});

/** The APIs that report cache writes. */
const CACHE_WRITES: Partial<Record<(typeof WIRES)[number], true>> = { anthropic: true };

it.each(["text-delta", "reasoning-delta", "tool-input-delta"] as const)("cuts off a %s without end", (type) => {
  const reply = new ReplyBuilder([]);
  const delta = "x".repeat(MAX_REPLY_CHARACTERS / 2);
  reply.add({ type, id: "1", delta });
  reply.add({ type, id: "1", delta });
  expect(() => reply.add({ type, id: "1", delta: "x" })).toThrow(/cut off: ask for less at once/);
});

it("cuts off calls without end", () => {
  const reply = new ReplyBuilder([]);
  const input = JSON.stringify({ command: "x".repeat(1024 * 1024) });
  const add = (): unknown => reply.add({ type: "tool-call", toolCallId: "1", toolName: "bash", input });
  for (let count = 0; count < MAX_REPLY_CHARACTERS / 1024 / 1024 - 1; count += 1) add();
  expect(() => [add(), add()]).toThrow(/cut off: ask for less at once/);
});
