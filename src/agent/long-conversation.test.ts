import { expect, it } from "vitest";
import type { EffectHost, SessionEvent, TurnContext, TurnOutcome } from "../domain/index.ts";
import type { Message, Model } from "../providers/index.ts";
import { WorkPerTurn } from "../stdx/test-work-per-turn.ts";
import { summarize } from "./compact-effect.ts";
import { MAX_REQUEST_CHARACTERS, MAX_REQUEST_MESSAGES } from "./context.ts";
import { readConversation } from "./conversation.ts";
import type { Acting } from "./open.ts";
import { Played, prepared } from "./test-machine.ts";

const asked: Message = { role: "user", parts: [{ type: "text", text: "go" }] };

it("summarizes more messages than one request should have, whether anybody counted their tokens or not", () => {
  const messages = Array.from({ length: MAX_REQUEST_MESSAGES + 1 }, () => asked);
  for (const contextSize of [undefined, 1_000_000]) {
    expect(new Played({ contextSize }, undefined, messages).tellAll(prepared()).lines.at(-1)).toBe(
      "summarize 0 summary",
    );
    const most = new Played({ contextSize }, undefined, messages.slice(1)).tellAll(prepared());
    expect(most.effects.at(-1)).toMatchObject({ type: "call_model" });
  }
});

it.each<[string, (text: string) => Message]>([
  ["questions", (text) => ({ role: "user", parts: [{ type: "text", text }] })],
  ["answers", (text) => ({ role: "assistant", text, calls: [] })],
  [
    "calls",
    (content) => ({ role: "assistant", text: "", calls: [{ toolId: "t", name: "write", input: { content } }] }),
  ],
  ["results", (text) => ({ role: "tool", results: [{ toolId: "t", name: "read", text, failed: false }] })],
])("summarizes %s that are longer than one request should be", (_, messageOf) => {
  const message = messageOf("x".repeat(100_000));
  const most = Array.from({ length: MAX_REQUEST_CHARACTERS / 100_000 }, () => message);
  const counted = { tokens: 1, messages: 1 };
  for (const contextSize of [undefined, 1_000_000_000]) {
    const last = (messages: readonly Message[]) =>
      new Played({ contextSize }, counted, messages).tellAll(prepared()).effects.at(-1)?.type;
    expect([last(most), last([...most, asked])]).toEqual(["call_model", "compact"]);
  }
});

it("lets others have their turns while a long conversation is prepared for its summary", async () => {
  using perTurn = new WorkPerTurn();
  const slowMessage = (): Message => ({
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
  const agent = { sessionId: "s", model, price: undefined, heard: () => undefined } as unknown as Acting;
  const messages = Array.from({ length: 2_000 }, slowMessage);
  expect(await summarize(agent, turn, { type: "compact", step: 0, id: "summary", messages, shrunk: 0 })).toBe(
    "In short.",
  );
  const left = 2_000 * "AGENT: words\n\n".length - 1_500; // half of the context, at three characters a token
  expect(requests).toEqual([expect.stringContaining(`[… ${left} characters left out …]`)]);
  expect(requests[0]?.length).toBeLessThan(2_500);
  expect(perTurn.most).toBeLessThanOrEqual(200); // a slice has 8 ms, and ends with the piece that is begun
});

it("reads a log of refused turns about as fast as one of others", async () => {
  const turns = 20_000;
  async function* history(outcome: TurnOutcome): AsyncIterable<SessionEvent> {
    for (let turn = 0; turn <= turns; turn += 1) {
      const stamp = { at: "", agent: "a", sessionId: "s", turnId: `${turn}` };
      yield { ...stamp, seq: 2 * turn + 1, type: "turn.started", input: [{ type: "text", text: "go" }] };
      yield { ...stamp, seq: 2 * turn + 2, type: "turn.ended", outcome };
    }
  }
  const timeOf = async (outcome: TurnOutcome): Promise<number> => {
    const { user } = process.cpuUsage();
    const { messages } = await readConversation({ turnId: `${turns}`, model: "provider/model" }, history(outcome));
    expect(messages).toHaveLength(turns + 1);
    return process.cpuUsage().user - user;
  };
  const done = await timeOf({ status: "done" });
  expect((await timeOf({ status: "failed", code: "provider_refused", message: "no" })) / done).toBeLessThan(5);
});
