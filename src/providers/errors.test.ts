import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { fault, startModelServer, type Reply } from "../testing/index.ts";
import { ProviderError } from "../domain/provider-error.ts";
import { FAKE_KEY, openTestModel, requestReply, user, WIRES, type WireName } from "./test-models.ts";

const NOW = Date.UTC(2026, 10, 16, 12, 0, 0);
const now = () => NOW;

async function failureOf(wire: WireName, reply: Reply): Promise<ProviderError> {
  await using server = await startModelServer([reply]);
  const error: unknown = await requestReply(openTestModel(wire, server.url, { now })).catch(
    (thrown: unknown) => thrown,
  );
  expect(server.requests).toHaveLength(1);
  if (!(error instanceof ProviderError)) throw new Error(`not a ProviderError: ${String(error)}`);
  return error;
}

describe.each(WIRES)("over %s", (wire) => {
  it.each<[string, Reply, string]>([
    ["status 500", fault(500), "provider_failed"],
    ["status 503", fault(503), "provider_failed"],
    ["status 529", fault(529), "provider_overloaded"],
    ["status 408", fault(408), "provider_failed"],
    ["status 429", fault(429, { message: "Too many requests" }), "provider_rate_limited"],
    ["a reset connection", fault("reset"), "provider_unreachable"],
    ["a truncated stream", fault("cut", { text: ["a", "b", "c", "d"] }), "provider_failed"],
    ["garbage in the stream", fault("garbage", { text: ["a", "b", "c", "d"] }), "provider_failed"],
  ])("marks %s as retryable", async (_, reply, code) => {
    const { retry, limit, code: got } = await failureOf(wire, reply);
    expect({ got, retry, limit }).toEqual({ got: code, retry: {}, limit: undefined });
  });

  it("reports a TypeError in Rookery as internal, without a retry", async () => {
    await using server = await startModelServer([]);
    const malformed = { role: "user", parts: null } as unknown as ReturnType<typeof user>;
    const error: unknown = await requestReply(openTestModel(wire, server.url), [malformed]).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "internal" });
    expect(error).not.toBeInstanceOf(ProviderError);
    expect(server.requests).toHaveLength(0);
  });

  it("marks an error during the stream as retryable and keeps its message", async () => {
    const error = await failureOf(wire, fault("error", { text: ["a", "b", "c", "d"] }));
    expect(error.code).toMatch(/^provider_(failed|overloaded)$/);
    expect(error.retry).toEqual({});
    expect(error.message).toMatch(/overloaded|had an error/i);
  });

  it.each<[string, Reply, string]>([
    ["status 401", fault(401), "provider_auth"],
    ["status 403", fault(403), "provider_auth"],
    ["status 404", fault(404), "model_not_found"],
    ["status 400", fault(400), "provider_refused"],
    ["status 422", fault(422), "provider_refused"],
  ])("does not mark %s as retryable", async (_, reply, code) => {
    const { retry, limit, code: got } = await failureOf(wire, reply);
    expect({ got, retry, limit }).toEqual({ got: code, retry: undefined, limit: undefined });
  });

  it("reports a wrong key as provider_auth", async () => {
    await using server = await startModelServer([], { requireKey: "another" });
    await expect(requestReply(openTestModel(wire, server.url))).rejects.toMatchObject({ code: "provider_auth" });
  });

  it("does not send the key to a redirect target", async () => {
    await using other = await startModelServer([{ text: "hi" }]);
    const server = createServer((_, response) => {
      response.writeHead(307, { location: `${other.url}/v1?secret` }).end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const error: unknown = await requestReply(openTestModel(wire, url)).catch((thrown: unknown) => thrown);
    server.close();
    expect(error).toMatchObject({ code: "provider_refused", retry: undefined });
    expect((error as Error).message).toContain(
      `redirects to ${other.url} (307), and Rookery does not send the key there: set`,
    );
    expect(other.requests).toEqual([]);
  });

  it.each([401, 400, 500])("redacts the key in an error with status %i", async (status) => {
    const { message } = await failureOf(wire, fault(status, { message: `no such key: ${FAKE_KEY}, sorry` }));
    expect(message).toContain("no such key: …, sorry");
  });

  it.each([
    ["seconds", 7, 7_000],
    ["a date", new Date(NOW + 9_000), 9_000],
    ["zero seconds", 0, 0],
  ])("reads the retry delay from %s", async (_, retryAfter, afterMs) => {
    const { code, retry } = await failureOf(wire, fault(429, { retryAfter, message: "Slow down" }));
    expect({ code, retry }).toEqual({ code: "provider_rate_limited", retry: { afterMs } });
    expect((await failureOf(wire, fault(503, { retryAfter }))).retry).toEqual({ afterMs });
  });

  it("reports a delay of more than a minute as a usage limit with its end", async () => {
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

  it("reports an exhausted account as a usage limit, with its end if the provider names it", async () => {
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

  it("reports context_overflow for a conversation that is too long", async () => {
    const error = await failureOf(wire, fault(400, { why: "overflow" }));
    expect({ code: error.code, retry: error.retry }).toEqual({ code: "context_overflow", retry: undefined });
    expect((await failureOf(wire, fault(413))).code).toBe("context_overflow");
  });

  it("marks an unreachable server as retryable", async () => {
    const server = await startModelServer([]);
    await server.close();
    const error: unknown = await requestReply(openTestModel(wire, server.url), [user("Go")]).catch(
      (thrown: unknown) => thrown,
    );
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
])("recognizes %j as context_overflow", async (message) => {
  expect((await failureOf("openai-compatible", fault(400, { message }))).code).toBe("context_overflow");
});

it.each([
  ["Rate limit reached for m. Please try again in 20s.", 20_000],
  ["Please try again in 850ms.", 850],
  ["Please try again in 1.5s. Visit the page", 1_500],
])("reads the retry delay in %j", async (message, afterMs) => {
  expect((await failureOf("openai", fault(429, { message }))).retry).toEqual({ afterMs });
});

it("reports a daily limit of OpenAI as usage_limited", async () => {
  const error = await failureOf(
    "openai",
    fault(429, { message: "Rate limit: requests per day. Please try again in 7m12s." }),
  );
  expect(error).toMatchObject({ code: "usage_limited", limit: { resetsAt: "2026-11-16T12:07:12.000Z" } });
});

it("reports exhausted credit at Anthropic as usage_limited without an end, despite status 400", async () => {
  const message = "Your credit balance is too low to access the Anthropic API.";
  expect(await failureOf("anthropic", fault(400, { message }))).toMatchObject({
    code: "usage_limited",
    limit: { resetsAt: undefined },
    message: expect.stringContaining("check your plan") as string,
  });
});

it("does not retry a reply whose call arguments nest too deeply", async () => {
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
  const error: unknown = await requestReply(openTestModel("anthropic", `http://127.0.0.1:${port}`)).catch(
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
