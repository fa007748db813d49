import { describe, expect, it } from "vitest";
import { SessionEvent, type ConversationMessage } from "../domain/index.ts";
import type { OpenSessionOptions } from "../rookery.ts";
import { fault, readAcpRecord, say, writeAcpAgent } from "../testing/index.ts";
import { MAX_MESSAGES } from "./conversation.ts";
import { MAX_INPUT_BYTES } from "./input.ts";
import { openScene, openWorld } from "./test-scene.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const user = (text: string): ConversationMessage => ({ role: "user", text });
const calling = (...toolIds: string[]): ConversationMessage => ({
  role: "assistant",
  text: "I look.",
  thought: "Where is it?",
  toolCalls: toolIds.map((toolId) => ({ toolId, name: "lookup", input: { of: toolId } })),
});
const results = (...toolIds: string[]): ConversationMessage => ({
  role: "tool",
  results: toolIds.map((toolId) => ({ toolId, text: `found ${toolId}` })),
});

/** A conversation with everything that messages hold. */
const whole = (hash: string): ConversationMessage[] => [
  {
    role: "user",
    parts: [
      { type: "text", text: "What is this?" },
      { type: "blob", hash, mediaType: "image/png", name: "bird.png" },
    ],
  },
  calling("call_a", "call_b"),
  {
    role: "tool",
    results: [
      { toolId: "call_a", text: "found call_a" },
      { toolId: "call_b", text: "not there", outcome: "failed" },
    ],
  },
  { role: "assistant", text: "A bird." },
];

const PROVIDERS = ["anthropic/claude-sonnet-5", "openai/gpt-5", "groq/llama", "google/gemini-3-pro"];

describe("a session with initial messages", () => {
  it.each(PROVIDERS)("sends them to %s before the prompt, with calls, results and images", async (model) => {
    await using world = await openWorld([say("Of prey.")]);
    const rookery = await world.open();
    const { hash } = await world.store.putBlob(PNG);
    const options = { model, baseUrl: world.model.url, apiKey: "fake", messages: whole(hash) };
    const session = await rookery.openSession(options);
    expect(await session.prompt("Which one?").text()).toBe("Of prey.");
    expect(world.model.problems).toEqual([]);
    const [request] = world.model.requests;
    expect(request?.lastUserText).toContain("Which one?");
    const body = JSON.stringify(request?.body);
    const inOrder = [
      "What is this?",
      PNG.toString("base64"),
      "I look.",
      "lookup",
      "found call_a",
      "not there",
      "A bird.",
    ];
    const places = [...inOrder, "Which one?"].map((text) => body.indexOf(text));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places).not.toContain(-1);
    expect(body).not.toContain("Where is it?"); // no model API takes a thought that it did not sign
    for (const event of await world.events(session.id)) SessionEvent.parse(event);
    await rookery.close();
  });

  it("keeps them when it is opened again, and in its forks", async () => {
    await using s = await openScene([say("one"), say("two")], {
      messages: [user("hello"), calling("a"), results("a")],
    });
    const { id } = s.session;
    const fork = await s.rookery.forkSession(id);
    await s.session.close();
    for (const each of [id, fork]) {
      const session = await s.rookery.openSession({ id: each });
      await session.prompt("next").outcome;
      expect(s.model.requests.at(-1)?.messages.map(({ role, text }) => `${role} ${text}`)).toEqual(
        s.model.requests[0]?.messages.map(({ role, text }) => `${role} ${text}`),
      );
    }
    expect(s.model.requests).toHaveLength(2);
    expect(JSON.stringify(s.model.requests[0]?.body)).toContain("found a");
  });

  it("hands them over to a program as text", async () => {
    await using world = await openWorld([]);
    const record = `${world.home}/record`;
    const { command } = await writeAcpAgent(world.home, { record, prompts: [[{ say: ["one"] }]] });
    await world.configure(`[agents.program]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}`);
    const rookery = await world.open();
    const { hash } = await world.store.putBlob(PNG);
    const session = await rookery.openSession({ agent: "program", messages: whole(hash) });
    await session.prompt("Which one?").outcome;
    await rookery.close();
    const entries = (await readAcpRecord(record)).map((entry) => JSON.stringify(entry));
    const prompt = entries.find((text) => text.includes('"session/prompt"'));
    for (const text of ["User: What is this?", "[bird.png]", "used a tool: lookup", "Agent: A bird.", "Which one?"]) {
      expect(prompt).toContain(text);
    }
    expect((await world.events(session.id)).find(({ type }) => type === "agent.connected")).toMatchObject({
      how: "handed_over",
    });
  });

  it("sends no initial attachment again that the provider refused", async () => {
    await using world = await openWorld([fault(400), say("two")]);
    const rookery = await world.open();
    const { hash } = await world.store.putBlob(PNG);
    const session = await rookery.openSession({ messages: whole(hash) });
    expect(await session.prompt("first").outcome).toMatchObject({ status: "failed", code: "provider_refused" });
    expect(await session.prompt("second").text()).toBe("two");
    const bodies = world.model.requests.map(({ body }) => JSON.stringify(body).includes(PNG.toString("base64")));
    expect(bodies).toEqual([true, false]);
    await rookery.close();
  });

  it("is found by search", async () => {
    await using s = await openScene([], { messages: [user("a heron"), calling("a"), results("a")] });
    for (const text of ["heron", "lookup", "found a"]) {
      expect((await s.rookery.search(text)).matches.map(({ sessionId }) => sessionId)).toEqual([s.session.id]);
    }
  });
});

const WRONG: [string, unknown, string, RegExp][] = [
  [
    "a result without its call",
    [user("a"), results("x")],
    "input_invalid",
    /messages\.1 has a result for the call "x"/,
  ],
  [
    "a result of an earlier call",
    [user("a"), calling("x"), results("x"), results("x")],
    "input_invalid",
    /messages\.3/,
  ],
  ["two results of one call", [user("a"), calling("x"), results("x", "x")], "input_invalid", /answered already/],
  ["a call without a result", [user("a"), calling("x")], "input_invalid", /call "x" has no result before messages\.2/],
  ["a call with too few results", [user("a"), calling("x", "y"), results("x"), user("b")], "input_invalid", /"y"/],
  [
    "two calls with one id",
    [user("a"), calling("x"), results("x"), calling("x"), results("x")],
    "input_invalid",
    /two calls/,
  ],
  ["an id that a provider rejects", [user("a"), calling("a b"), results("a b")], "input_invalid", /64 letters/],
  ["an unknown role", [{ role: "system", text: "a" }], "input_invalid", /0\.role/],
  ["a part that the role cannot have", [user("a"), { role: "assistant", parts: [] }], "input_invalid", /1/],
  ["text and parts", [{ role: "user", text: "a", parts: [] }], "input_invalid", /unknown field/],
  [
    "an input that is no object",
    [user("a"), { role: "assistant", text: "", toolCalls: [{ toolId: "x", name: "n", input: [] }] }],
    "input_invalid",
    /input/,
  ],
  [
    "an input that is not JSON",
    [
      user("a"),
      { role: "assistant", text: "", toolCalls: [{ toolId: "x", name: "n", input: { n: 5n } }] },
      results("x"),
    ],
    "input_invalid",
    /not JSON/,
  ],
  ["an empty message", [user(" ")], "input_invalid", /messages\.0 is empty/],
  [
    "a first message of the assistant",
    [{ role: "assistant", text: "a" }],
    "input_invalid",
    /start with a user message/,
  ],
  [
    "a missing blob",
    [{ role: "user", parts: [{ type: "blob", hash: "none", mediaType: "image/png" }] }],
    "attachment_missing",
    /none/,
  ],
  ["too many messages", Array.from({ length: MAX_MESSAGES + 1 }, () => user("a")), "input_too_large", /10001 messages/],
  ["too long messages", [user("x".repeat(MAX_INPUT_BYTES))], "input_too_large", /limit/],
];

it.each(WRONG)("refuses %s, and writes nothing", async (_, messages, code, message) => {
  await using s = await openScene([]);
  const { head } = (await s.store.summary(s.session.id))!;
  const expected = { code, message: expect.stringMatching(message) as string };
  const given = messages as readonly ConversationMessage[];
  await expect(s.rookery.openSession({ messages: given })).rejects.toMatchObject(expected);
  await expect(s.session.replaceConversation(given)).rejects.toMatchObject(expected);
  expect(await s.store.list()).toHaveLength(1);
  expect((await s.store.summary(s.session.id))?.head).toBe(head);
});

it.each<[string, OpenSessionOptions]>([
  ["id", { id: "ses_unknown" }],
  ["adopt", { adopt: { backend: "claude-code", nativeId: "x" } }],
])("refuses messages together with %s", async (_, options) => {
  await using world = await openWorld([]);
  await using rookery = await world.open();
  await expect(rookery.openSession({ ...options, messages: [user("a")] })).rejects.toMatchObject({
    code: "input_invalid",
    message: expect.stringContaining("replaceConversation") as string,
  });
});
