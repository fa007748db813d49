import { APICallError } from "ai";
import { describe, expect, it } from "vitest";
import { fault, say, startModelServer, type ModelServerOptions } from "./index.ts";
import { ask, CLIENT_NAMES, listen, type ClientName } from "./test-clients.ts";

const MODES = ["streamed", "whole"] as const;
const EVERY_WAY = CLIENT_NAMES.flatMap((client) => MODES.map((mode) => ({ client, mode })));

describe.each(EVERY_WAY)("over $client, $mode,", ({ client, mode }) => {
  it.each([
    { status: 401, words: /invalid x-api-key|Incorrect API key|invalid authentication/, retryable: false },
    { status: 404, words: /model: claude|does not exist|is not found/, retryable: false },
    { status: 429, words: /rate limit|exhausted/i, retryable: true },
    { status: 500, words: /internal|had an error/i, retryable: true },
    { status: 503, words: /internal|overloaded/i, retryable: true },
    { status: 529, words: /overloaded|error/i, retryable: true },
  ])("reports status $status as an API error with the provider's message", async ({ status, words, retryable }) => {
    await using server = await startModelServer([fault(status)]);
    const error = await failure(client, server.url, mode);
    expect(error.statusCode).toBe(status);
    expect(error.message).toMatch(words);
    expect(error.isRetryable).toBe(retryable);
  });

  it.each([
    ["seconds", 7, "7"],
    ["a date", new Date(Date.UTC(2030, 0, 2, 3, 4, 5)), "Wed, 02 Jan 2030 03:04:05 GMT"],
    ["nothing", undefined, undefined],
  ])("sends %s in the retry-after header of a rate limit", async (_, retryAfter, header) => {
    await using server = await startModelServer([fault(429, retryAfter === undefined ? {} : { retryAfter })]);
    const error = await failure(client, server.url, mode);
    expect(error.responseHeaders?.["retry-after"]).toBe(header);
  });

  it.each<[string, ModelServerOptions, number, RegExp]>([
    ["a wrong key", { requireKey: "another" }, client === "gemini" ? 400 : 401, /invalid x-api-key|API key/],
    ["an unknown model", { models: ["another"] }, 404, /model: claude|does not exist|is not found/],
  ])("rejects %s without using a reply", async (_, options, status, words) => {
    await using server = await startModelServer([], options);
    const error = await failure(client, server.url, mode);
    expect(error.statusCode).toBe(status);
    expect(error.message).toMatch(words);
    expect(server.problems).toEqual([]);
  });

  it("causes a network error when it resets the connection", async () => {
    await using server = await startModelServer([fault("reset")]);
    await expect(ask(client, server.url, "Go", { mode })).rejects.toThrow(
      /Cannot connect|fetch failed|other side closed/,
    );
    expect(await server.ended(0)).toBe("broken");
  });

  it("stalls until the client gives up", async () => {
    await using server = await startModelServer([fault("stall", { text: ["a", "b"] })]);
    const giveUp = new AbortController();
    const asked = ask(client, server.url, "Go", { mode, signal: giveUp.signal }).catch((error: unknown) => error);
    await server.received(0);
    giveUp.abort();
    await asked;
    expect(await server.ended(0)).toBe("aborted");
  });
});

describe.each(CLIENT_NAMES)("over %s", (client) => {
  const text = ["a", "b", "c", "d", "e", "f"];

  it("delivers the text before a cut, and then an error", async () => {
    await using server = await startModelServer([fault("cut", { text })]);
    const heard = await listen(client, server.url);
    expect("abcdef".startsWith(heard.text)).toBe(true);
    expect(heard.text).toMatch(/^a.*[^f]$/);
    expect(heard.error).toMatchObject({ cause: { message: "terminated" } });
    expect(await server.ended(0)).toBe("broken");
  });

  it("delivers the text before an early end, which only one of these clients detects", async () => {
    await using server = await startModelServer([fault("eof", { text })]);
    const heard = await listen(client, server.url);
    expect(heard.text).toMatch(/^a.*[^f]$/);
    expect(heard.error === undefined).toBe(client !== "openai-compatible");
    expect(await server.ended(0)).toBe("answered");
  });

  it("causes a parse error with garbage in the stream", async () => {
    await using server = await startModelServer([fault("garbage", { text })]);
    const heard = await listen(client, server.url);
    expect(heard.text).toMatch(/^a/);
    expect(String(heard.error)).toMatch(/JSON parsing failed/);
  });

  it("delivers the message of an error event", async () => {
    await using server = await startModelServer([fault("error", { text })]);
    const heard = await listen(client, server.url);
    expect(heard.text).toMatch(/^a/);
    expect(JSON.stringify(heard.error)).toMatch(/overloaded|had an error/i);
    expect(await server.ended(0)).toBe("answered");
  });

  it("delivers slow chunks completely", async () => {
    await using server = await startModelServer([say(text, { firstByteDelayMs: 5, chunkDelayMs: 1 })]);
    expect(await listen(client, server.url)).toEqual({ text: "abcdef", error: undefined });
  });
});

async function failure(client: ClientName, url: string, mode: "streamed" | "whole"): Promise<APICallError> {
  const error: unknown = await ask(client, url, "Go", { mode }).catch((thrown: unknown) => thrown);
  if (!APICallError.isInstance(error)) throw new Error(`not an API error: ${String(error)}`);
  return error;
}
