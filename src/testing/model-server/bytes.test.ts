import { expect, it } from "vitest";
import { fault, startModelServer, type Reply } from "./index.ts";

const REPLY: Reply = {
  thinking: "Hm.",
  text: ["Hel", "lo"],
  toolCalls: [{ name: "bash", input: { command: "ls" } }],
  usage: { input: 50, output: 9, cacheRead: 20, cacheWrite: 10, reasoning: 4 },
};

const MESSAGES = [{ role: "user", content: "Go" }];

const WIRES = {
  anthropic: ["/v1/messages", { model: "claude", max_tokens: 100, stream: true, messages: MESSAGES }],
  "openai-responses": ["/v1/responses", { model: "gpt", stream: true, input: MESSAGES }],
  "openai-chat": [
    "/v1/chat/completions",
    { model: "gpt", stream: true, stream_options: { include_usage: true }, messages: MESSAGES },
  ],
  gemini: ["/v1beta/models/gemini:streamGenerateContent?alt=sse", { contents: [{ parts: [{ text: "Go" }] }] }],
} as const;
type Wire = keyof typeof WIRES;

it("streams the events of Anthropic in order, with ids and usage", async () => {
  const { events, headers } = await stream("anthropic");
  expect(headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "request-id": "req_000000000001",
  });
  expect(
    events.map(({ event, data }) => [event, data["index"], typeOf(data["delta"] ?? data["content_block"])]),
  ).toEqual([
    ["message_start", undefined, undefined],
    ["content_block_start", 0, "thinking"],
    ["ping", undefined, undefined],
    ["content_block_delta", 0, "thinking_delta"],
    ["content_block_delta", 0, "signature_delta"],
    ["content_block_stop", 0, undefined],
    ["content_block_start", 1, "text"],
    ["content_block_delta", 1, "text_delta"],
    ["content_block_delta", 1, "text_delta"],
    ["content_block_stop", 1, undefined],
    ["content_block_start", 2, "tool_use"],
    ...Array<unknown>(4).fill(["content_block_delta", 2, "input_json_delta"]),
    ["content_block_stop", 2, undefined],
    ["message_delta", undefined, undefined],
    ["message_stop", undefined, undefined],
  ]);
  for (const { event, data } of events) expect(data["type"]).toBe(event);
  expect(events[0]?.data).toEqual({
    type: "message_start",
    message: {
      id: "msg_000000000001",
      type: "message",
      role: "assistant",
      model: "claude",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: 20,
        cache_creation_input_tokens: 10,
        cache_read_input_tokens: 20,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 0 },
        output_tokens: 1,
        service_tier: "standard",
      },
    },
  });
  expect(events.at(-2)?.data).toEqual({
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: {
      input_tokens: 20,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: 20,
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 4 },
    },
  });
});

it("streams the events of the Responses API in order, with sequence numbers and usage", async () => {
  const { events, headers } = await stream("openai-responses");
  expect(headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "x-request-id": "req_000000000001",
  });
  expect(events.map(({ event, data }) => [event, data["output_index"]])).toEqual([
    ["response.created", undefined],
    ["response.in_progress", undefined],
    ["response.output_item.added", 0],
    ["response.reasoning_summary_part.added", 0],
    ["response.reasoning_summary_text.delta", 0],
    ["response.reasoning_summary_text.done", 0],
    ["response.reasoning_summary_part.done", 0],
    ["response.output_item.done", 0],
    ["response.output_item.added", 1],
    ["response.content_part.added", 1],
    ["response.output_text.delta", 1],
    ["response.output_text.delta", 1],
    ["response.output_text.done", 1],
    ["response.content_part.done", 1],
    ["response.output_item.done", 1],
    ["response.output_item.added", 2],
    ...Array<unknown>(3).fill(["response.function_call_arguments.delta", 2]),
    ["response.function_call_arguments.done", 2],
    ["response.output_item.done", 2],
    ["response.completed", undefined],
  ]);
  expect(events.map(({ data }) => data["sequence_number"])).toEqual([...events.keys()]);
  for (const { event, data } of events) expect(data["type"]).toBe(event);
  expect(events.at(-1)?.data["response"]).toMatchObject({
    id: "resp_000000000001",
    object: "response",
    created_at: 1,
    status: "completed",
    output: [
      { type: "reasoning", id: "rs_000000000001", summary: [{ type: "summary_text", text: "Hm." }] },
      { type: "message", id: "msg_000000000001", role: "assistant", content: [{ type: "output_text", text: "Hello" }] },
      { type: "function_call", call_id: "call_0000000000010000", name: "bash", arguments: '{"command":"ls"}' },
    ],
    usage: {
      input_tokens: 50,
      input_tokens_details: { cached_tokens: 20, cache_write_tokens: 10 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 59,
    },
  });
});

it("names the group of a tool in a Responses call, as Codex needs for the tools of an MCP server", async () => {
  const [path, body] = WIRES["openai-responses"];
  const reply = { toolCalls: [{ name: "note", namespace: "mcp__notes", input: {} }] };
  await using server = await startModelServer([reply]);
  const events = parse(await (await post(server.url + path, body)).text());
  const items = events.flatMap(({ data }) => data["item"] ?? []);
  expect(items).toHaveLength(2);
  for (const item of items) expect(item).toMatchObject({ name: "note", namespace: "mcp__notes" });
});

it("streams the chunks of Chat Completions in order, with usage, and ends with [DONE]", async () => {
  const { text, events, headers } = await stream("openai-chat");
  expect(headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "x-request-id": "req_000000000001",
  });
  expect(text).toMatch(/^data: \{/);
  expect(text).toMatch(/\n\ndata: \[DONE\]\n\n$/);
  const chunks = events.slice(0, -1).map(({ data }) => data);
  const call = (fields: object) => ({ tool_calls: [{ index: 0, ...fields }] });
  expect(chunks.map(({ choices }) => (choices as { delta: object }[])[0]?.delta)).toEqual([
    { role: "assistant", content: "", refusal: null },
    { reasoning_content: "Hm." },
    { content: "Hel" },
    { content: "lo" },
    call({ id: "call_0000000000010000", type: "function", function: { name: "bash", arguments: "" } }),
    call({ function: { arguments: '{"comm' } }),
    call({ function: { arguments: 'and":"' } }),
    call({ function: { arguments: 'ls"}' } }),
    {},
    undefined,
  ]);
  expect(chunks.at(-2)).toMatchObject({ choices: [{ index: 0, finish_reason: "tool_calls" }], usage: null });
  expect(chunks.at(-1)).toMatchObject({
    id: "chatcmpl-000000000001",
    object: "chat.completion.chunk",
    created: 1,
    choices: [],
    usage: {
      prompt_tokens: 50,
      completion_tokens: 9,
      total_tokens: 59,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 4 },
    },
  });
});

it("omits usage in Chat Completions without include_usage", async () => {
  await using server = await startModelServer([REPLY]);
  const { stream_options: _without, ...body } = WIRES["openai-chat"][1];
  const text = await (await post(server.url + WIRES["openai-chat"][0], body)).text();
  expect(text).not.toContain("usage");
});

it("streams the parts of Gemini in order, with CRLF and usage", async () => {
  const { text, events, headers } = await stream("gemini");
  expect(headers).toMatchObject({ "content-type": "text/event-stream" });
  expect(text.split("\r\n\r\n")).toHaveLength(events.length + 1);
  const candidates = events.map(({ data }) => (data["candidates"] as Record<string, unknown>[])[0]);
  const thoughtSignature = Buffer.from("signature of message 1").toString("base64");
  const functionCall = { name: "bash", args: { command: "ls" }, id: "call_0000000000010000" };
  expect(candidates).toEqual([
    { content: { parts: [{ text: "Hm.", thought: true }], role: "model" }, index: 0 },
    { content: { parts: [{ text: "Hel" }], role: "model" }, index: 0 },
    { content: { parts: [{ text: "lo" }], role: "model" }, index: 0 },
    { content: { parts: [{ functionCall, thoughtSignature }], role: "model" }, finishReason: "STOP", index: 0 },
  ]);
  expect(events.at(-1)?.data).toMatchObject({
    usageMetadata: {
      promptTokenCount: 50,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
      cachedContentTokenCount: 20,
      totalTokenCount: 59,
    },
    modelVersion: "gemini",
    responseId: "response_000000000001",
  });
});

it("streams one JSON array for Gemini without alt=sse", async () => {
  await using server = await startModelServer([REPLY]);
  const response = await post(`${server.url}/v1beta/models/gemini:streamGenerateContent`, WIRES.gemini[1]);
  expect(response.headers.get("content-type")).toBe("application/json; charset=UTF-8");
  expect(await response.json()).toHaveLength(4);
});

it.each<[Wire, number, object]>([
  [
    "anthropic",
    529,
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" }, request_id: "req_000000000001" },
  ],
  [
    "anthropic",
    404,
    { type: "error", error: { type: "not_found_error", message: "model: claude" }, request_id: "req_000000000001" },
  ],
  [
    "openai-chat",
    401,
    {
      error: {
        message: expect.stringContaining("Incorrect API key") as string,
        type: "invalid_request_error",
        param: null,
        code: "invalid_api_key",
      },
    },
  ],
  [
    "openai-responses",
    429,
    {
      error: {
        message: expect.stringContaining("Rate limit reached for gpt") as string,
        type: "requests",
        param: null,
        code: "rate_limit_exceeded",
      },
    },
  ],
  [
    "gemini",
    429,
    { error: { code: 429, message: "Resource has been exhausted (e.g. check quota).", status: "RESOURCE_EXHAUSTED" } },
  ],
])("fails on %s with %i and the body of the real API", async (wire, status, body) => {
  await using server = await startModelServer([fault(status)]);
  const response = await post(server.url + WIRES[wire][0], WIRES[wire][1]);
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  expect(await response.json()).toEqual(body);
});

it.each<[Wire, string]>([
  ["anthropic", 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'],
  ["openai-responses", 'event: error\ndata: {"type":"error","sequence_number":2,"code":"server_error",'],
  ["openai-chat", 'data: {"error":{"message":"The server had an error'],
  [
    "gemini",
    'data: {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}\r\n\r\n',
  ],
])("ends a failing %s stream with its own error event", async (wire, expected) => {
  await using server = await startModelServer([fault("error", { ...REPLY, afterEvents: 2 })]);
  const text = await (await post(server.url + WIRES[wire][0], WIRES[wire][1])).text();
  const events = text.split(/(?<=\r?\n\r?\n)(?=event:|data:)/);
  expect(events).toHaveLength(3);
  expect(events[2]?.startsWith(expected)).toBe(true);
});

async function stream(wire: Wire) {
  const [path, body] = WIRES[wire];
  await using server = await startModelServer([REPLY], { now: () => 1_500 });
  const response = await post(server.url + path, body);
  const text = await response.text();
  return { text, events: parse(text), headers: Object.fromEntries(response.headers) };
}

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: "POST", body: JSON.stringify(body) });
}

function parse(text: string): { event: string | undefined; data: Record<string, unknown> }[] {
  return text
    .split(/\r?\n\r?\n/)
    .filter((block) => block !== "")
    .map((block) => {
      const data = /^data: (.*)$/m.exec(block)?.[1] ?? "";
      return { event: /^event: (.*)$/m.exec(block)?.[1], data: data === "[DONE]" ? {} : (JSON.parse(data) as object) };
    }) as { event: string | undefined; data: Record<string, unknown> }[];
}

function typeOf(value: unknown): unknown {
  return (value as { type?: string } | undefined)?.type;
}
