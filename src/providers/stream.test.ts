import { describe, expect, it } from "vitest";
import { call, calls, fault, say, startModelServer, type Reply } from "../testing/index.ts";
import type { ModelReply } from "./model.ts";
import { LONGEST_REPLY, ReplyBuilder } from "./reply.ts";
import { afterwards, modelOver, partsOf, replyTo, user, WIRES } from "./test-models.ts";

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
  ])("%s whose stream ends after any event is whole or a failure", async (_, reply) => {
    const said = ({ text, calls: made, stopReason }: ModelReply) => ({
      text,
      stopReason,
      inputs: made.map((c) => c.input),
    });
    await using server = await startModelServer([reply]);
    const whole = said(await replyTo(modelOver(wire, server.url)));
    let failures = 0;
    for (let afterEvents = 0; ; afterEvents += 1) {
      await using early = await startModelServer([fault("eof", { ...reply, afterEvents })]);
      const heard = await replyTo(modelOver(wire, early.url)).then(said, (error: unknown) => error);
      if (!(heard instanceof Error)) {
        expect(heard).toEqual(whole);
        break;
      }
      expect(heard).toMatchObject({ code: "provider_failed", retry: {} });
      failures += 1;
    }
    expect(failures).toBeGreaterThan(wire === "google" ? 0 : 3); // gemini gives its calls with its end
  });

  it("two calls with one id are told apart, also in what is given back", async () => {
    const command = (text: string) => ({ id: "same", name: "bash", input: { command: text } });
    await using server = await startModelServer([calls([command("A"), command("B")]), say("Ok.")]);
    const model = modelOver(wire, server.url);
    const { text, calls: made, native } = await replyTo(model);
    expect(new Set(made.map(({ toolId }) => toolId)).size).toBe(2);
    const results = made.map(({ toolId, name, input }) => ({
      toolId,
      name,
      text: JSON.stringify(input),
      failed: false,
    }));
    await replyTo(model, [user("Go"), { role: "assistant", text, calls: made, native }, { role: "tool", results }]);
    expect(server.problems).toEqual([]);
    const asked = server.requests.at(-1)!.messages.flatMap(({ toolCalls }) => toolCalls);
    const inputs = new Map(asked.map(({ id, input }) => [id, JSON.stringify(input)]));
    const answered = server.requests.at(-1)!.messages.flatMap(({ toolResults }) => toolResults);
    expect(answered.map(({ id }) => inputs.get(id))).toEqual(['{"command":"A"}', '{"command":"B"}']);
    expect(answered.map(({ content }) => content)).toEqual(['{"command":"A"}', '{"command":"B"}']);
  });

  it("half a character is never sent, wherever it stands", async () => {
    const half = "a\ud83d";
    await using server = await startModelServer([say("Ok."), say("Ok.")]);
    const made = [{ toolId: "t", name: "bash", input: { command: half } }];
    const [provider, model] = modelOver(wire, server.url).name.split("/");
    const native = {
      provider,
      model,
      content: [
        { type: "text", text: half },
        { type: "tool-call", toolCallId: "t", toolName: "bash", input: { deep: [half] } },
      ],
    };
    for (const given of [undefined, native]) {
      await replyTo(modelOver(wire, server.url), [
        user(half),
        { role: "assistant", text: half, calls: made, native: given },
        { role: "tool", results: [{ toolId: "t", name: "bash", text: half, failed: false }] },
      ]);
    }
    const sent = server.requests.map(({ body }) => JSON.stringify(body));
    expect(sent.filter((body) => /\\ud83d/i.test(body))).toEqual([]);
    expect(sent.every((body) => body.includes("a\ufffd"))).toBe(true);
  });

  it("thoughts, text and calls come as they are made, and whole at the end", async () => {
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
    const parts = await partsOf(modelOver(wire, server.url));
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

  it("a reply with no content is a reply", async () => {
    await using server = await startModelServer([{ text: "" }]);
    const { text, calls: made, native } = await replyTo(modelOver(wire, server.url));
    expect({ text, made }).toEqual({ text: "", made: [] });
    expect(native).toMatchObject({ content: [] });
  });

  it("a reply of 5 MB and 200 calls comes whole, and is given back", async () => {
    const long = "0123456789abcdef".repeat(65_536);
    const many = Array.from({ length: 200 }, (_, index) => ({ name: "bash", input: { command: `echo ${index}` } }));
    const reply = calls(many, { text: Array.from({ length: 5 }, () => long) });
    await using server = await startModelServer([reply, say("Ok.")]);
    const model = modelOver(wire, server.url);
    const heard = await replyTo(model);
    expect(heard.text.length).toBe(5 * long.length);
    expect(heard.calls.map(({ input }) => input)).toEqual(many.map(({ input }) => input));
    await replyTo(model, [user("Go"), ...afterwards(heard)]);
    expect(server.problems).toEqual([]);
    expect(server.requests[1]?.toolResults).toHaveLength(200);
  });

  it.each([
    ["no JSON", '{"command": "ls', "the arguments are not JSON"],
    ["no object", "[1]", "the arguments are not a JSON object"],
  ])("arguments that are %s are a call that cannot be run, in words", async (_, written, words) => {
    await using server = await startModelServer([calls([{ name: "bash", input: {}, written }]), say("Ok.")]);
    const model = modelOver(wire, server.url);
    const reply = await replyTo(model);
    const invalid = expect.stringContaining(wire === "google" ? "the arguments are not" : words) as string;
    expect(reply.calls).toMatchObject([{ name: "bash", invalid }]);
    await replyTo(model, [user("Go"), ...afterwards(reply)]);
    expect(server.problems).toEqual([]);
  });

  it("a request that is given up ends with its reason", async () => {
    await using server = await startModelServer([fault("stall", { text: ["a", "b"] })]);
    const giveUp = new AbortController();
    const asked = replyTo(modelOver(wire, server.url), [user("Go")], { signal: giveUp.signal });
    await server.received(0);
    giveUp.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
    expect(await server.ended(0)).toBe("aborted");
  });

  it("one call is one request, however it fails", async () => {
    for (const failing of [fault(500), fault(429), fault("reset"), fault("cut", { text: ["a", "b"] })]) {
      await using server = await startModelServer([failing, say("Ok.")]);
      await expect(replyTo(modelOver(wire, server.url))).rejects.toMatchObject({ retry: {} });
      expect(server.requests).toHaveLength(1);
    }
  });
});

/** Those that say what they wrote. */
const CACHE_WRITES: Partial<Record<(typeof WIRES)[number], true>> = { anthropic: true };

it.each(["text-delta", "reasoning-delta", "tool-input-delta"] as const)("a %s without end is broken off", (type) => {
  const reply = new ReplyBuilder([]);
  const delta = "x".repeat(LONGEST_REPLY / 2);
  reply.add({ type, id: "1", delta });
  reply.add({ type, id: "1", delta });
  expect(() => reply.add({ type, id: "1", delta: "x" })).toThrow(/broken off: ask for less at once/);
});

it("calls without end are broken off", () => {
  const reply = new ReplyBuilder([]);
  const input = JSON.stringify({ command: "x".repeat(1024 * 1024) });
  const add = (): unknown => reply.add({ type: "tool-call", toolCallId: "1", toolName: "bash", input });
  for (let count = 0; count < LONGEST_REPLY / 1024 / 1024 - 1; count += 1) add();
  expect(() => [add(), add()]).toThrow(/broken off: ask for less at once/);
});
