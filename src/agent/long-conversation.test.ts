import { expect, it } from "vitest";
import type { EffectHost, SessionEvent, TurnContext, TurnOutcome } from "../domain/index.ts";
import type { CompletionMessage, Model } from "../providers/index.ts";
import { WorkPerTurn } from "../stdx/test-work-per-turn.ts";
import { summarizeConversation } from "./compact-effect.ts";
import { MAX_REQUEST_CHARACTERS, MAX_REQUEST_MESSAGES } from "./context-size.ts";
import { readConversation } from "./conversation.ts";
import { MachinePlayer, prepared } from "./test-machine.ts";
import type { TurnAgent } from "./turn-agent.ts";

const prompt: CompletionMessage = { role: "user", parts: [{ type: "text", text: "go" }] };

it("summarizes a conversation with too many messages, regardless of its token count", () => {
  const messages = Array.from({ length: MAX_REQUEST_MESSAGES + 1 }, () => prompt);
  for (const contextSize of [undefined, 1_000_000]) {
    expect(new MachinePlayer({ contextSize }, undefined, messages).sendAll(prepared()).lines.at(-1)).toBe(
      "summarize 0 summary",
    );
    const atLimit = new MachinePlayer({ contextSize }, undefined, messages.slice(1)).sendAll(prepared());
    expect(atLimit.effects.at(-1)).toMatchObject({ type: "call_model" });
  }
});

it.each<[string, (text: string) => CompletionMessage]>([
  ["user messages", (text) => ({ role: "user", parts: [{ type: "text", text }] })],
  ["replies", (text) => ({ role: "assistant", text, calls: [] })],
  [
    "calls",
    (content) => ({ role: "assistant", text: "", calls: [{ toolId: "t", name: "write", input: { content } }] }),
  ],
  ["results", (text) => ({ role: "tool", results: [{ toolId: "t", name: "read", text, failed: false }] })],
])("summarizes %s that are too long for one request", (_, createMessage) => {
  const message = createMessage("x".repeat(100_000));
  const atLimit = Array.from({ length: MAX_REQUEST_CHARACTERS / 100_000 }, () => message);
  const tokenCount = { tokens: 1, messages: 1 };
  for (const contextSize of [undefined, 1_000_000_000]) {
    const last = (messages: readonly CompletionMessage[]) =>
      new MachinePlayer({ contextSize }, tokenCount, messages).sendAll(prepared()).effects.at(-1)?.type;
    expect([last(atLimit), last([...atLimit, prompt])]).toEqual(["call_model", "compact"]);
  }
});

it("yields to other work while it prepares a long conversation for a summary", async () => {
  using perTurn = new WorkPerTurn();
  const slowMessage = (): CompletionMessage => ({
    role: "assistant",
    calls: [],
    get text() {
      perTurn.work();
      return "words";
    },
  });
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const reply = { text: "In short.", calls: [], stopReason: "stop", usage, native: undefined };
  const requests: string[] = [];
  const model: Model = {
    name: "provider/model",
    contextSize: 1_000,
    async *stream({ messages }) {
      requests.push(JSON.stringify(messages));
      yield { type: "reply", reply };
    },
  };
  const effects = {
    run: async ({ perform }: { perform: () => Promise<{ value: unknown }> }) => perform(),
  } as unknown as EffectHost;
  const log = { commit: () => Promise.resolve(), head: 1 };
  const turn = { turnId: "t", effects, log, signal: new AbortController().signal } as unknown as TurnContext;
  const agent = { sessionId: "s", model, price: undefined, onModelOutput: () => undefined } as unknown as TurnAgent;
  const messages = Array.from({ length: 2_000 }, slowMessage);
  expect(
    await summarizeConversation(agent, turn, { type: "compact", step: 0, id: "summary", messages, halvings: 0 }),
  ).toBe("In short.");
  const omitted = 2_000 * "AGENT: words\n\n".length - 1_500; // half of the context, at three characters per token
  expect(requests).toEqual([expect.stringContaining(`[… ${omitted} characters omitted …]`)]);
  expect(requests[0]?.length).toBeLessThan(2_500);
  expect(perTurn.max).toBeLessThanOrEqual(200); // a slice takes 8 ms and finishes the item that it started
});

it("reads a log of refused turns about as fast as one of completed turns", async () => {
  const turns = 20_000;
  async function* history(outcome: TurnOutcome): AsyncIterable<SessionEvent> {
    for (let turn = 0; turn <= turns; turn += 1) {
      const stamp = { at: "", agent: "a", sessionId: "s", turnId: `${turn}` };
      yield { ...stamp, seq: 2 * turn + 1, type: "turn.started", input: [{ type: "text", text: "go" }] };
      yield { ...stamp, seq: 2 * turn + 2, type: "turn.ended", outcome };
    }
  }
  const measureRead = async (outcome: TurnOutcome): Promise<number> => {
    const { user } = process.cpuUsage();
    const { messages } = await readConversation({ turnId: `${turns}`, model: "provider/model" }, history(outcome));
    expect(messages).toHaveLength(turns + 1);
    return process.cpuUsage().user - user;
  };
  const done = await measureRead({ status: "done" });
  expect((await measureRead({ status: "failed", code: "provider_refused", message: "no" })) / done).toBeLessThan(5);
});
