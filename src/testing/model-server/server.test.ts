import { expect, it } from "vitest";
import { fault, say, startModelServer, type Script } from "./index.ts";

const BODY = { model: "claude", max_tokens: 100, messages: [{ role: "user", content: "Go" }] };

it("fails the request and records a problem when the script runs out", async () => {
  await using server = await startModelServer([say("one")]);
  expect((await post(server.url)).status).toBe(200);
  const refused = await post(server.url);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { message: "the script has no reply number 2" } });
  expect(server.problems).toEqual(["the script has no reply number 2"]);
});

it.each<[string, Script]>([
  [
    "throws",
    () => {
      throw new Error("no idea");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no idea"))],
])("fails the request and records a problem when the script %s", async (_, script) => {
  await using server = await startModelServer(script);
  expect((await post(server.url)).status).toBe(400);
  expect(server.problems).toEqual(["the script threw on request 1: no idea"]);
});

it.each(["/v1/messages", "/messages", "/v1/v1/messages?beta=true"])("accepts the path %s", async (path) => {
  await using server = await startModelServer([say("here")]);
  expect(await (await post(server.url, BODY, path)).json()).toMatchObject({
    content: [{ type: "text", text: "here" }],
  });
});

it("keeps requests without their keys", async () => {
  await using server = await startModelServer(() => say("ok"), { now: () => 5 });
  const headers = {
    "x-api-key": "secret",
    authorization: "Bearer secret",
    "x-goog-api-key": "secret",
    "x-other": "seen",
  };
  await post(server.url, BODY, "/v1/messages", headers);
  const gemini = { contents: [{ role: "user", parts: [{ text: "Go" }] }] };
  await post(server.url, gemini, "/v1beta/models/gemini:generateContent?key=secret");
  expect(JSON.stringify(server.requests)).not.toContain("secret");
  expect(server.requests).toMatchObject([
    { wire: "anthropic", path: "/v1/messages", model: "claude", at: 5, body: BODY, stream: false },
    { wire: "gemini", path: "/v1beta/models/gemini:generateContent", model: "gemini", lastUserText: "Go" },
  ]);
  expect(server.requests[0]?.headers).toMatchObject({ "x-api-key": "(present)", "x-other": "seen" });
  expect(server.requests[1]?.headers).not.toHaveProperty("x-api-key");
});

it.each<[string, string, Record<string, string>]>([
  ["x-api-key", "/v1/messages", { "x-api-key": "right" }],
  ["a bearer token", "/v1/messages", { authorization: "Bearer right" }],
])("reads the key from %s", async (_, path, headers) => {
  await using server = await startModelServer([say("ok")], { requireKey: "right" });
  expect((await post(server.url, BODY, path)).status).toBe(401);
  expect((await post(server.url, BODY, path, { ...headers, "x-other": "1" })).status).toBe(200);
  expect(server.requests).toHaveLength(2);
});

it.each([
  ["not JSON", "{", 400],
  ["JSON that the API rejects", JSON.stringify({ ...BODY, max_tokens: undefined }), 400],
  ["too long", JSON.stringify({ ...BODY, filler: "x".repeat(1000) }), 413],
])("rejects a body that is %s and records a problem", async (_, body, status) => {
  await using server = await startModelServer([say("never")], { maxBodyBytes: 500 });
  const response = await fetch(`${server.url}/v1/messages`, { method: "POST", body });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ type: "error" });
  expect(server.requests).toEqual([]);
  expect(server.problems).toHaveLength(1);
});

it("rejects requests above the limit and does not keep them", async () => {
  await using server = await startModelServer(() => say("ok"), { maxRequests: 1 });
  expect((await post(server.url)).status).toBe(200);
  expect((await post(server.url)).status).toBe(400);
  expect(server.requests).toHaveLength(1);
  expect(server.problems).toEqual(["the model server accepts at most 1 requests; raise the option maxRequests"]);
});

it.each<[string, object, object]>([
  ["/v1/messages/count_tokens", BODY, { input_tokens: expect.any(Number) as number }],
  ["/v1/responses/input_tokens", { model: "gpt", input: "Go" }, { object: "response.input_tokens" }],
  [
    "/v1beta/models/gemini:countTokens",
    { contents: [{ parts: [{ text: "Go" }] }] },
    { totalTokens: expect.any(Number) as number },
  ],
])("counts tokens at %s without using a reply", async (path, body, expected) => {
  await using server = await startModelServer([]);
  expect(await (await post(server.url, body, path)).json()).toMatchObject(expected);
  expect(server.requests).toEqual([]);
});

it.each<[string, string, Record<string, string>, object]>([
  [
    "Anthropic",
    "/v1/models",
    { "anthropic-version": "2023-06-01" },
    { data: [{ type: "model", id: "m" }], has_more: false },
  ],
  ["OpenAI", "/v1/models", {}, { object: "list", data: [{ id: "m", object: "model" }] }],
  ["Gemini", "/v1beta/models", {}, { models: [{ name: "models/m" }] }],
])("lists the models in the format of %s", async (_, path, headers, expected) => {
  await using server = await startModelServer([], { models: ["m"] });
  expect(await (await fetch(server.url + path, { headers })).json()).toMatchObject(expected);
});

it("responds with 404 to an unknown path", async () => {
  await using server = await startModelServer([]);
  expect((await post(server.url, {}, "/v1/embeddings")).status).toBe(404);
});

it("aborts exchanges when it closes, and can be closed twice", async () => {
  const server = await startModelServer([fault("stall"), say("late", { firstByteDelayMs: 600_000 })]);
  const both = [post(server.url), post(server.url)].map((asked) => asked.then((response) => response.text()));
  const settled = Promise.allSettled(both);
  await server.received(1);
  const never = server.received(2);
  await Promise.all([server.close(), server.close()]);
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(never).rejects.toThrow("closed before this happened");
  await expect(post(server.url)).rejects.toThrow();
});

it("listens only on a loopback address", async () => {
  await using server = await startModelServer(() => say("ok"));
  await expect(post(server.url.replace("127.0.0.1", "[::1]"))).rejects.toThrow("fetch failed");
});

function post(url: string, body: unknown = BODY, path = "/v1/messages", headers: Record<string, string> = {}) {
  return fetch(url + path, { method: "POST", body: JSON.stringify(body), headers });
}
