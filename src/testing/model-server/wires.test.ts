import { describe, expect, it } from "vitest";
import { call, calls, say, startModelServer, type Reply, type Script } from "./index.ts";
import { ask, CLIENT_NAMES, INSTRUCTIONS, type ClientName } from "./test-clients.ts";

const MODES = ["streamed", "whole"] as const;
const EVERY_WAY = CLIENT_NAMES.flatMap((client) => MODES.map((mode) => ({ client, mode })));

const USAGE = { input: 1000, output: 300, cacheRead: 600, cacheWrite: 100, reasoning: 40 };

/** Fields of the script that the wire or the client cannot express. */
const UNSAID: Record<ClientName, readonly ("reasoning" | "cacheWrite")[]> = {
  anthropic: [],
  "openai-responses": [],
  "openai-chat": ["reasoning"],
  "openai-compatible": ["cacheWrite"],
  gemini: ["cacheWrite"],
};

describe.each(EVERY_WAY)("over $client, $mode,", ({ client, mode }) => {
  it("gives the same result for the same script", async () => {
    const reply: Reply = {
      thinking: ["I should ", "look."],
      text: ["I ", "will ", "look: ü🐦."],
      toolCalls: [
        { name: "read", input: { path: 'a "quoted" name.ts' } },
        { name: "bash", input: { command: "ls -l\n", timeout: 5 } },
      ],
      usage: USAGE,
    };
    await using server = await startModelServer([reply]);
    expect(await ask(client, server.url, "Look", { mode })).toEqual({
      text: "I will look: ü🐦.",
      reasoning: UNSAID[client].includes("reasoning") ? undefined : "I should look.",
      toolCalls: [
        { toolName: "read", input: { path: 'a "quoted" name.ts' } },
        { toolName: "bash", input: { command: "ls -l\n", timeout: 5 } },
      ],
      finishReason: "tool-calls",
      usage: { ...USAGE, cacheWrite: UNSAID[client].includes("cacheWrite") ? undefined : USAGE.cacheWrite },
    });
    expect(server.problems).toEqual([]);
  });

  it("runs a conversation with tools from one script function", async () => {
    const script: Script = ({ toolResults }) =>
      toolResults.length === 0
        ? calls([
            { name: "read", input: { path: "a.ts" } },
            { name: "bash", input: { command: "ls", timeout: 1 }, id: "call_chosen" },
          ])
        : say(toolResults.map(({ name, content }) => `${name}: ${content}`).join("; "));
    await using server = await startModelServer(script);
    const { text } = await ask(client, server.url, "Look around", { mode, steps: 2 });
    expect(text).toBe("read: text of a.ts; bash: output of ls");

    const [first, second] = server.requests;
    expect(first).toMatchObject({
      system: INSTRUCTIONS,
      lastUserText: "Look around",
      toolNames: ["read", "bash"],
      toolResults: [],
      stream: mode === "streamed",
    });
    expect(second).toMatchObject({ lastUserText: "Look around", toolResults: [{}, { id: "call_chosen" }] });
    expect(second?.messages.flatMap(({ toolCalls }) => toolCalls.map(({ name, input }) => ({ name, input })))).toEqual([
      { name: "read", input: { path: "a.ts" } },
      { name: "bash", input: { command: "ls", timeout: 1 } },
    ]);
  });

  it.each([
    ["end", "stop"],
    ["max_tokens", "length"],
    ["refusal", "content-filter"],
  ] as const)("reports the stop reason %s as %s", async (stopReason, finishReason) => {
    await using server = await startModelServer([say("So far", { stopReason })]);
    expect(await ask(client, server.url, "Go", { mode })).toMatchObject({ text: "So far", finishReason });
  });

  it("accepts an empty reply", async () => {
    await using server = await startModelServer([{}]);
    expect(await ask(client, server.url, "Go", { mode })).toMatchObject({ text: "", finishReason: "stop" });
  });

  it("delivers a call without arguments", async () => {
    await using server = await startModelServer([call("list")]);
    const { toolCalls } = await ask(client, server.url, "Go", { mode });
    expect(toolCalls).toEqual([{ toolName: "list", input: {} }]);
  });
});

it("sends the replies of a list in order, with the same ids on every run", async () => {
  const bodies = async () => {
    await using server = await startModelServer([call("a"), say("b")], { now: () => 0 });
    const post = () => fetch(`${server.url}/v1/messages`, anthropicPost()).then((response) => response.text());
    return [await post(), await post()];
  };
  const [first, second] = await bodies();
  expect(first).toContain('"id":"toolu_0000000000010000"');
  expect(second).toContain('"id":"msg_000000000002"');
  expect(await bodies()).toEqual([first, second]);
});

function anthropicPost(): RequestInit {
  const body = { model: "claude", max_tokens: 9, stream: true, messages: [{ role: "user", content: "Go" }] };
  return { method: "POST", body: JSON.stringify(body) };
}
