import { describe, expect, it } from "vitest";
import { call, calls, say, startModelServer } from "../testing/index.ts";
import type { CompletionMessage } from "../domain/model.ts";
import {
  toFollowUpMessages,
  image,
  openTestModel,
  requestReply,
  text,
  user,
  WIRES,
  type WireName,
} from "./test-models.ts";

const SYSTEM = "You are a test.";

/** The field of a request that holds the messages, for each API. */
const LIST: Record<WireName, string> = {
  anthropic: "messages",
  openai: "input",
  google: "contents",
  "openai-compatible": "messages",
};

/** Runs three turns with thoughts, calls and an image, and returns the request bodies. */
async function session(wire: WireName): Promise<Record<string, unknown>[]> {
  await using server = await startModelServer([
    call("bash", { command: "ls" }, { thinking: "hm", text: "So" }),
    calls([
      { name: "bash", input: { command: "a" } },
      { name: "bash", input: { command: "b" } },
    ]),
    say("Done.", { thinking: "well" }),
    say("Again."),
  ]);
  const messages: CompletionMessage[] = [{ role: "user", parts: [text("Go"), image("the bytes")] }];
  for (const next of [undefined, undefined, user("More"), user("And more")]) {
    // A new model and messages restored from JSON each time, as after a crash.
    const kept = JSON.parse(JSON.stringify(messages)) as CompletionMessage[];
    const reply = await requestReply(openTestModel(wire, server.url), kept, { system: SYSTEM, cacheKey: "ses_1" });
    messages.push(...toFollowUpMessages(reply), ...(next === undefined ? [] : [next]));
  }
  expect(server.problems).toEqual([]);
  return server.requests.map(({ body }) => body as Record<string, unknown>);
}

describe.each(WIRES)("over %s", (wire) => {
  it("starts each request with the bytes of the previous one", async () => {
    const bodies = (await session(wire)).map((body) => withoutMarkers(body));
    expect(bodies).toHaveLength(4);
    for (const [index, body] of bodies.entries()) {
      const before = bodies[index - 1];
      if (before === undefined) continue;
      const list = JSON.stringify(body[LIST[wire]]);
      expect(list.startsWith(JSON.stringify(before[LIST[wire]]).slice(0, -1))).toBe(true);
      expect(JSON.stringify({ ...body, [LIST[wire]]: [] })).toBe(JSON.stringify({ ...before, [LIST[wire]]: [] }));
    }
  });
});

it("marks the system prompt and the last two requests for Anthropic's cache, with at most four markers", async () => {
  const bodies = await session("anthropic");
  for (const body of bodies) {
    expect(JSON.stringify(body["system"])).toContain('"cache_control":{"type":"ephemeral"}');
    expect(JSON.stringify(body).split('"cache_control"').length - 1).toBeLessThanOrEqual(4);
    const list = body["messages"] as unknown[];
    expect(JSON.stringify(list.at(-1))).toContain('"cache_control"');
  }
  const marked = (body: Record<string, unknown> | undefined) =>
    (body?.["messages"] as unknown[]).flatMap((message, at) =>
      JSON.stringify(message).includes("cache_control") ? at : [],
    );
  expect(bodies.map(marked)).toEqual([[0], [0, 2], [2, 4], [4, 6]]);
});

it("adds no cache marker to an empty system prompt, which Anthropic rejects", async () => {
  await using server = await startModelServer([say("Ok.")]);
  await requestReply(openTestModel("anthropic", server.url));
  expect(server.requests[0]?.body).not.toHaveProperty("system");
});

it("sends OpenAI the session as the cache key and disables storage", async () => {
  for (const body of await session("openai")) expect(body).toMatchObject({ prompt_cache_key: "ses_1", store: false });
});

function withoutMarkers<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === "cache_control" ? undefined : inner))) as T;
}
