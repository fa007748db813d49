import { describe, expect, it } from "vitest";
import type { EventBody, SessionEvent } from "../domain/index.ts";
import type { CompletionMessage } from "../providers/index.ts";
import { readConversation } from "./conversation.ts";
import type { TurnEffect, TurnEvent } from "./machine.ts";
import {
  callsFor,
  cancelled,
  compacted,
  expectPaired,
  failing,
  fatal,
  overflow,
  MachinePlayer,
  prepared,
  createRandom,
  waited,
  says,
  settled,
} from "./test-machine.ts";

const MODEL = "provider/model";
const input = (text: string) => [{ type: "text" as const, text }];

/** A log in memory. */
class MemoryLog {
  readonly events: SessionEvent[] = [];

  add(turnId: string | undefined, ...bodies: readonly EventBody[]): void {
    for (const body of bodies) {
      const seq = this.events.length + 1;
      this.events.push({ ...body, seq, at: "", sessionId: "s", turnId } as SessionEvent);
    }
  }

  read(turnId: string) {
    return readConversation({ turnId, model: MODEL }, this.#all());
  }

  async *#all(): AsyncIterable<SessionEvent> {
    yield* this.events;
  }
}

describe("the conversation of the next turn", () => {
  const seeds = Array.from({ length: 150 }, (_, index) => index + 1);
  it("equals the messages of the earlier turns, with every call answered, for random event sequences", async () => {
    const ends = new Set<string>();
    for (const seed of seeds) {
      const random = createRandom(seed);
      const log = new MemoryLog();
      for (let turn = 1; turn <= 4; turn += 1) {
        const turnId = `t${turn}`;
        log.add(turnId, { type: "turn.started", input: input(turnId) });
        const { messages, tokenCount } = await log.read(turnId);
        expectPaired(messages);
        const played = new MachinePlayer({ input: input(turnId) }, tokenCount, messages);
        const end = play(played, log, { turnId, random });
        ends.add(end);
        const next = await log.read("another");
        const own = played.state.messages.map(plain);
        expect(next.messages.slice(0, own.length).map(plain), `seed ${seed}`).toEqual(own);
        if (end === "end done") expect(next.messages).toHaveLength(own.length);
        if (end === "end done") expect(next.tokenCount).toEqual(played.state.tokenCount);
        expectPaired(next.messages);
      }
    }
    expect(ends).toEqual(
      new Set(["end done", "end cancelled", "end failed context_overflow", "end failed provider_failed"]),
    );
  });

  it("keeps calls apart that share an id with a call of another agent", async () => {
    const log = new MemoryLog();
    const used = { type: "tool.started", toolId: "call_1", name: "x", title: "X", kind: "other", input: {} } as const;
    const ended = (text: string) => ({ type: "tool.ended", toolId: "call_1", outcome: "ok", text }) as const;
    log.add("t1", { type: "turn.started", input: input("one") }, used, ended("theirs"));
    const done = { type: "turn.ended", outcome: { status: "done", stopReason: "stop" } } as const;
    log.add("t1", done);
    expect((await log.read("another")).callIds).toContain("call_1");
    const toolCalls = [{ toolId: "call_1", name: "x", input: {} }];
    log.add("t2", { type: "turn.started", input: input("two") });
    log.add("t2", { type: "message.completed", messageId: "m", text: "", toolCalls }, used, ended("ours"), done);
    const { messages } = await log.read("another");
    expectPaired(messages);
    expect(JSON.stringify(messages)).toContain("ours");
  });
});

/**
 * Answers each effect with a random possible event and writes the log events of the agent. Returns how the turn ended.
 */
function play(
  turn: MachinePlayer,
  log: MemoryLog,
  { turnId, random }: { turnId: string; random: () => number },
): string {
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const open = [...turn.effects];
  const id = (): string => `${turnId}c${log.events.length}_${Math.floor(random() * 1e9)}`;
  const createRandomEvent = (effect: TurnEffect): TurnEvent => {
    if (random() < 0.03) return cancelled;
    switch (effect.type) {
      case "prepare_step":
        return random() < 0.3 ? prepared(pick("one", "two")) : prepared();
      case "wait":
        return waited;
      case "compact":
        return pick(compacted, compacted, failing(), fatal, overflow);
      case "run_tool":
        return settled(effect.call.toolId);
      case "call_model": {
        const ids = Array.from({ length: 1 + Math.floor(random() * 5) }, () => `${id()}${pick("", "", "!")}`);
        const tokens = pick(1, 500, 900);
        return pick(callsFor(ids, tokens), callsFor(ids, tokens), says(pick("hi", " "), tokens), failing(), overflow);
      }
      case "end":
        throw new Error("an end has no outcome");
    }
  };
  for (;;) {
    const [effect] = open.splice(Math.floor(random() * open.length), 1);
    const event = createRandomEvent(effect!);
    log.add(turnId, ...createEvents(event, effect!));
    const next = turn.send(event);
    for (const one of next) if (one.type === "run_tool") log.add(turnId, ...createStartEvents(one.call.toolId, random));
    open.push(...next);
    const last = turn.effects.at(-1);
    if (last?.type !== "end") continue;
    const left = open.flatMap((one) => (one.type === "run_tool" ? one.call.toolId : []));
    log.add(turnId, ...left.map((toolId) => createEndEvent(toolId, "cancelled")));
    log.add(turnId, { type: "turn.ended", outcome: last.outcome });
    return turn.lines.at(-1)!;
  }
}

function createEvents(event: TurnEvent, effect: TurnEffect): EventBody[] {
  switch (event.type) {
    case "step_prepared":
      return event.inputs.map((parts) => ({ type: "input.delivered", inputId: "i", input: [...parts] }));
    case "model_replied": {
      const { text, calls, usage } = event.reply;
      const toolCalls = calls.map(({ toolId, name, input: given }) => ({ toolId, name, input: given }));
      const contextUsed = usage.inputTokens + usage.outputTokens;
      return [
        { type: "message.completed", messageId: "m", text, ...(toolCalls.length > 0 && { toolCalls }) },
        { type: "usage.reported", model: MODEL, ...usage, contextUsed },
      ];
    }
    case "compacted":
      return [
        { type: "context.compacted", summary: event.summary, throughSeq: 1 },
        { type: "usage.reported", model: MODEL, inputTokens: 1, outputTokens: 1, ...NO_CACHE },
      ];
    case "tool_settled":
      return [createEndEvent(event.answer.toolId, "ok")];
    case "cancelled":
      if (effect.type === "run_tool") return [createEndEvent(effect.call.toolId, "cancelled")];
      return effect.type === "call_model" ? [{ type: "message.completed", messageId: "m", text: "half a sen" }] : [];
    default:
      return [];
  }
}

const NO_CACHE = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/** Some calls make nested calls. */
function createStartEvents(toolId: string, random: () => number): EventBody[] {
  const started = { type: "tool.started", name: "tool", title: "Tool", kind: "other", input: {} } as const;
  const own = { ...started, toolId };
  if (random() < 0.7) return [own];
  const nested = `${toolId}.1`;
  return [own, { ...started, toolId: nested, parent: toolId }, createEndEvent(nested, "ok")];
}

function createEndEvent(toolId: string, outcome: "ok" | "cancelled"): EventBody {
  return { type: "tool.ended", toolId, outcome, text: `of ${toolId}` };
}

/** The part of a message that a provider gets. */
function plain(message: CompletionMessage): unknown {
  if (message.role !== "assistant") return message;
  const { role, text, calls } = message;
  return { role, text, calls: calls.map(({ toolId, name, input: given }) => ({ toolId, name, given })) };
}
