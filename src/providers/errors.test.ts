import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { fault, startModelServer, type Reply } from "../testing/index.ts";
import { ProviderError } from "./provider-error.ts";
import { FAKE_KEY, modelOver, replyTo, user, WIRES, type WireName } from "./test-models.ts";

const NOW = Date.UTC(2026, 10, 16, 12, 0, 0);
const now = () => NOW;

async function failureOf(wire: WireName, reply: Reply): Promise<ProviderError> {
  await using server = await startModelServer([reply]);
  const error: unknown = await replyTo(modelOver(wire, server.url, { now })).catch((thrown: unknown) => thrown);
  expect(server.requests).toHaveLength(1);
  if (!(error instanceof ProviderError)) throw new Error(`not a provider's error: ${String(error)}`);
  return error;
}

describe.each(WIRES)("over %s", (wire) => {
  it.each<[string, Reply, string]>([
    ["a status 500", fault(500), "provider_failed"],
    ["a status 503", fault(503), "provider_failed"],
    ["a status 529", fault(529), "provider_overloaded"],
    ["a status 408", fault(408), "provider_failed"],
    ["a status 429", fault(429, { message: "Too many requests" }), "provider_rate_limited"],
    ["a connection that is reset", fault("reset"), "provider_unreachable"],
    ["a stream that is cut", fault("cut", { text: ["a", "b", "c", "d"] }), "provider_failed"],
    ["garbage in the stream", fault("garbage", { text: ["a", "b", "c", "d"] }), "provider_failed"],
  ])("%s is worth another try", async (_, reply, code) => {
    const { retry, limit, code: got } = await failureOf(wire, reply);
    expect({ got, retry, limit }).toEqual({ got: code, retry: {}, limit: undefined });
  });

  it("a TypeError of our own code is internal, and not worth another try", async () => {
    await using server = await startModelServer([]);
    const malformed = { role: "user", parts: null } as unknown as ReturnType<typeof user>;
    const error: unknown = await replyTo(modelOver(wire, server.url), [malformed]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "internal" });
    expect(error).not.toBeInstanceOf(ProviderError);
    expect(server.requests).toHaveLength(0);
  });

  it("an error in the middle of the stream is worth another try, in its own words", async () => {
    const error = await failureOf(wire, fault("error", { text: ["a", "b", "c", "d"] }));
    expect(error.code).toMatch(/^provider_(failed|overloaded)$/);
    expect(error.retry).toEqual({});
    expect(error.message).toMatch(/overloaded|had an error/i);
  });

  it.each<[string, Reply, string]>([
    ["a status 401", fault(401), "provider_auth"],
    ["a status 403", fault(403), "provider_auth"],
    ["a status 404", fault(404), "model_not_found"],
    ["a status 400", fault(400), "provider_refused"],
    ["a status 422", fault(422), "provider_refused"],
  ])("%s is not worth another", async (_, reply, code) => {
    const { retry, limit, code: got } = await failureOf(wire, reply);
    expect({ got, retry, limit }).toEqual({ got: code, retry: undefined, limit: undefined });
  });

  it("a wrong key is a matter of the key", async () => {
    await using server = await startModelServer([], { requireKey: "another" });
    await expect(replyTo(modelOver(wire, server.url))).rejects.toMatchObject({ code: "provider_auth" });
  });

  it("a key is not taken to where a server sends instead", async () => {
    await using other = await startModelServer([{ text: "hi" }]);
    const server = createServer((_, response) => {
      response.writeHead(307, { location: `${other.url}/v1?secret` }).end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const error: unknown = await replyTo(modelOver(wire, url)).catch((thrown: unknown) => thrown);
    server.close();
    expect(error).toMatchObject({ code: "provider_refused", retry: undefined });
    expect((error as Error).message).toContain(`sends to ${other.url} (307), where no key is taken along: set`);
    expect(other.requests).toEqual([]);
  });

  it.each([401, 400, 500])("a key that is repeated with status %i is not said", async (status) => {
    const { message } = await failureOf(wire, fault(status, { message: `no such key: ${FAKE_KEY}, sorry` }));
    expect(message).toContain("no such key: …, sorry");
  });

  it.each([
    ["seconds", 7, 7_000],
    ["a date", new Date(NOW + 9_000), 9_000],
    ["no seconds at all", 0, 0],
  ])("a wait is taken from %s", async (_, retryAfter, afterMs) => {
    const { code, retry } = await failureOf(wire, fault(429, { retryAfter, message: "Slow down" }));
    expect({ code, retry }).toEqual({ code: "provider_rate_limited", retry: { afterMs } });
    expect((await failureOf(wire, fault(503, { retryAfter }))).retry).toEqual({ afterMs });
  });

  it("a wait of more than a minute is a limit that ends at a time", async () => {
    const { code, retry, limit, message } = await failureOf(
      wire,
      fault(429, { retryAfter: 3_600, message: "No more" }),
    );
    expect({ code, retry, limit }).toEqual({
      code: "usage_limited",
      retry: undefined,
      limit: { resetsAt: "2026-11-16T13:00:00.000Z" },
    });
    expect(message).toContain("wait until 2026-11-16T13:00:00.000Z");
  });

  it("an account that is used up is a limit, with its end where that is said", async () => {
    const known = await failureOf(wire, fault(429, { why: "quota", resetsAt: new Date(NOW + 7_200_000) }));
    const resetsAt = wire === "google" ? "2026-11-17T08:00:00.000Z" : "2026-11-16T14:00:00.000Z"; // midnight in California
    expect({ code: known.code, retry: known.retry, limit: known.limit }).toEqual({
      code: "usage_limited",
      retry: undefined,
      limit: { resetsAt },
    });
    expect(await failureOf(wire, fault(402, { message: "Insufficient Balance" }))).toMatchObject({
      code: "usage_limited",
      limit: { resetsAt: undefined },
    });
  });

  it("a conversation that is too long is one", async () => {
    const error = await failureOf(wire, fault(400, { why: "overflow" }));
    expect({ code: error.code, retry: error.retry }).toEqual({ code: "context_overflow", retry: undefined });
    expect((await failureOf(wire, fault(413))).code).toBe("context_overflow");
  });

  it("nobody at the address is worth another try", async () => {
    const server = await startModelServer([]);
    await server.close();
    const error: unknown = await replyTo(modelOver(wire, server.url), [user("Go")]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "provider_unreachable",
      retry: {},
      message: expect.stringContaining(server.url) as string,
    });
  });
});

it.each([
  "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion).", // vLLM
  "the request exceeds the available context size, try increasing it", // llama.cpp
  "This endpoint's maximum context length is 16384 tokens. However, you requested about 94307 tokens", // OpenRouter
  "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", // xAI
  "Please reduce the length of the messages or completion.", // Groq
  "input length and `max_tokens` exceed context limit: 199000 + 21333 > 200000", // Anthropic
  "Request too large for gpt-x in organization o on tokens per min (TPM): Limit 30000, Requested 45000.",
  "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length", // Mistral
])("%j is a conversation that is too long", async (message) => {
  expect((await failureOf("openai-compatible", fault(400, { message }))).code).toBe("context_overflow");
});

it.each([
  ["Rate limit reached for m. Please try again in 20s.", 20_000],
  ["Please try again in 850ms.", 850],
  ["Please try again in 1.5s. Visit the page", 1_500],
])("the wait in %j is read", async (message, afterMs) => {
  expect((await failureOf("openai", fault(429, { message }))).retry).toEqual({ afterMs });
});

it("a day's limit of OpenAI is a limit", async () => {
  const error = await failureOf(
    "openai",
    fault(429, { message: "Rate limit: requests per day. Please try again in 7m12s." }),
  );
  expect(error).toMatchObject({ code: "usage_limited", limit: { resetsAt: "2026-11-16T12:07:12.000Z" } });
});

it("credit that is used up is a limit without an end, though Anthropic calls it a bad request", async () => {
  const message = "Your credit balance is too low to access the Anthropic API.";
  expect(await failureOf("anthropic", fault(400, { message }))).toMatchObject({
    code: "usage_limited",
    limit: { resetsAt: undefined },
    message: expect.stringContaining("see your plan") as string,
  });
});

it("a call whose arguments nest too deeply to be read is a failure that is not tried again", async () => {
  const event = (body: { readonly type: string }) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], usage };
  const block = { type: "tool_use", id: "t", name: "bash", input: {} };
  const partial_json = `{"command":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event({ type: "message_start", message } as { type: string }));
    response.write(event({ type: "content_block_start", index: 0, content_block: block } as { type: string }));
    const delta = { type: "input_json_delta", partial_json };
    response.write(event({ type: "content_block_delta", index: 0, delta } as { type: string }));
    response.write(event({ type: "content_block_stop", index: 0 } as { type: string }));
    const stop = { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } };
    response.write(event(stop));
    response.end(event({ type: "message_stop" }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const error: unknown = await replyTo(modelOver("anthropic", `http://127.0.0.1:${port}`)).catch(
    (thrown: unknown) => thrown,
  );
  server.closeAllConnections();
  server.close();
  expect(error).toMatchObject({
    code: "provider_failed",
    message: expect.stringContaining("nests too deeply") as string,
  });
  expect((error as ProviderError).retry).toBeUndefined();
});
