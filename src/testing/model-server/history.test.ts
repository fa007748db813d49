import { describe, expect, it } from "vitest";
import { say, startModelServer } from "./index.ts";
import type { WireName } from "./wires/wire-name.ts";

/** By wire: a user message, calls of `one` and `two`, and the results with the given ids. */
const HISTORIES: Record<WireName, [path: string, body: (results: string[]) => object, words: RegExp]> = {
  anthropic: [
    "/v1/messages",
    (results) => ({
      model: "claude",
      max_tokens: 9,
      messages: [
        { role: "user", content: "Go" },
        { role: "assistant", content: ["one", "two"].map((id) => ({ type: "tool_use", id, name: "bash", input: {} })) },
        { role: "user", content: [...results.map(anthropicResult), { type: "text", text: "Go on" }] },
      ],
    }),
    /without `tool_result` blocks immediately after: two/,
  ],
  "openai-responses": [
    "/v1/responses",
    (results) => ({
      model: "gpt",
      input: [
        { role: "user", content: [{ type: "input_text", text: "Go" }] },
        ...["one", "two"].map((call_id) => ({ type: "function_call", call_id, name: "bash", arguments: "{}" })),
        ...results.map((call_id) => ({ type: "function_call_output", call_id, output: "done" })),
      ],
    }),
    /No tool output found for function call two/,
  ],
  "openai-chat": [
    "/v1/chat/completions",
    (results) => ({
      model: "gpt",
      messages: [
        { role: "user", content: "Go" },
        { role: "assistant", content: null, tool_calls: ["one", "two"].map(chatCall) },
        ...results.map((tool_call_id) => ({ role: "tool", tool_call_id, content: "done" })),
      ],
    }),
    /did not have response messages: two/,
  ],
  gemini: [
    "/v1beta/models/gemini:generateContent",
    (results) => ({
      contents: [
        { role: "user", parts: [{ text: "Go" }] },
        { role: "model", parts: ["one", "two"].map((id) => ({ functionCall: { id, name: "bash", args: {} } })) },
        { role: "user", parts: [...results.map(geminiResult), { text: "Go on" }] },
      ],
    }),
    /number of function response parts is equal/,
  ],
};

describe.each(Object.entries(HISTORIES))("over %s", (_, [path, body, words]) => {
  it("answers a conversation with all results", async () => {
    await using server = await startModelServer([say("ok")]);
    expect((await post(server.url + path, body(["two", "one"]))).status).toBe(200);
    expect(server.requests[0]?.toolResults).toEqual(
      ["two", "one"].map((id) => ({ id, name: "bash", content: "done", isError: false })),
    );
  });

  it("rejects a call without a result like the real API, without using a reply", async () => {
    await using server = await startModelServer([say("ok")]);
    const refused = await post(server.url + path, body(["one"]));
    expect(refused.status).toBe(400);
    expect(await refused.text()).toMatch(words);
    expect(server.problems).toHaveLength(1);
    expect((await post(server.url + path, body(["one", "two"]))).status).toBe(200);
  });
});

it.each(["anthropic", "openai-chat", "gemini"] as const)("rejects a result without a call over %s", async (wire) => {
  const [path, body] = HISTORIES[wire];
  await using server = await startModelServer([say("ok")]);
  expect((await post(server.url + path, body(["one", "two", "three"]))).status).toBe(400);
});

function anthropicResult(tool_use_id: string) {
  return { type: "tool_result", tool_use_id, content: [{ type: "text", text: "done" }] };
}

function chatCall(id: string) {
  return { id, type: "function", function: { name: "bash", arguments: "{}" } };
}

function geminiResult(id: string) {
  return { functionResponse: { id, name: "bash", response: { output: "done" } } };
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: "POST", body: JSON.stringify(body) });
}
