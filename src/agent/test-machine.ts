/** Plays the turn machine by hand: what happens is told to it, and what it wants is written down as lines. */
import { expect } from "vitest";
import type { Message } from "../providers/index.ts";
import type { PlannedCall } from "./calls.ts";
import { advance, begin, type TurnEffect, type TurnEvent, type TurnState, type TurnTerms } from "./machine.ts";

export const TERMS: TurnTerms = {
  input: [{ type: "text", text: "go" }],
  contextSize: 1_000,
  retry: { tries: 2, firstMs: 100 },
};
export const ASKED: readonly Message[] = [{ role: "user", parts: TERMS.input }];
const USAGE = { outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

export class Played {
  state: TurnState;
  readonly effects: TurnEffect[] = [];

  constructor(terms: Partial<TurnTerms> = {}, counted?: TurnState["counted"], messages = ASKED) {
    const first = begin(messages, { ...TERMS, ...terms }, counted);
    this.state = first.state;
    this.effects.push(...first.effects);
  }

  /** What the machine wants because of it. */
  tell(event: TurnEvent): readonly TurnEffect[] {
    const { state, effects } = advance(this.state, event);
    this.state = state;
    this.effects.push(...effects);
    return effects;
  }

  tellAll(...events: readonly TurnEvent[]): this {
    for (const event of events) this.tell(event);
    return this;
  }

  get lines(): string[] {
    return this.effects.map(lineOf);
  }
}

export const prepared = (...said: string[]): TurnEvent => {
  return { type: "step_prepared", inputs: said.map((text) => [{ type: "text", text }]) };
};
export const rested: TurnEvent = { type: "rested" };
export const cancelled: TurnEvent = { type: "cancelled" };
export const compacted: TurnEvent = { type: "compacted", summary: "in short" };
export const overflow: TurnEvent = { type: "model_failed", code: "context_overflow", message: "too long" };
export const fatal: TurnEvent = { type: "model_failed", code: "provider_auth", message: "wrong key" };

export function failing(afterMs?: number): TurnEvent {
  return { type: "model_failed", code: "provider_failed", message: "down", retry: { afterMs } };
}

export function says(text: string, inputTokens = 1, stopReason = "stop"): TurnEvent {
  const usage = { ...USAGE, inputTokens };
  return { type: "model_replied", reply: { text, calls: [], stopReason, usage, native: undefined } };
}

/** A call whose id ends with `!` runs alone. */
export function callsFor(ids: readonly string[], inputTokens = 1): TurnEvent {
  const calls = ids.map((id): PlannedCall => {
    return { toolId: id, name: "tool", input: {}, concurrent: !id.endsWith("!") };
  });
  const usage = { ...USAGE, inputTokens };
  return { type: "model_replied", reply: { text: "", calls, stopReason: "tool-calls", usage, native: undefined } };
}

export function settled(toolId: string): TurnEvent {
  return { type: "tool_settled", answer: { toolId, name: "tool", text: `of ${toolId}`, failed: false } };
}

/** Short, and without what the test has no interest in. */
export function lineOf(effect: TurnEffect): string {
  switch (effect.type) {
    case "prepare_step":
      return `prepare ${effect.step}${effect.final ? " or end" : ""}`;
    case "call_model":
      return `ask ${effect.step} ${effect.id}: ${effect.messages.map(wordsOf).join(", ")}`;
    case "compact":
      return `summarize ${effect.step} ${effect.id}${effect.shrunk > 0 ? ` shrunk ${effect.shrunk}` : ""}`;
    case "rest":
      return `rest ${effect.id} ${effect.ms} ms, then ${effect.next} of ${effect.of}`;
    case "run_tool":
      return `run ${effect.call.toolId}`;
    case "end":
      return effect.outcome.status === "failed" ? `end failed ${effect.outcome.code}` : `end ${effect.outcome.status}`;
  }
}

function wordsOf(message: Message): string {
  switch (message.role) {
    case "user":
      return message.parts.map((part) => (part.type === "text" ? shortOf(part.text) : part.type)).join("+");
    case "assistant":
      return message.calls.length > 0 ? "calls" : `"${message.text}"`;
    case "tool":
      return `[${message.results.map(({ toolId }) => toolId).join(" ")}]`;
  }
}

function shortOf(text: string): string {
  return text.includes("in short") ? "summary" : text;
}

/** Each message that calls is followed by one with the results of exactly these calls, in their order. */
export function expectPaired(messages: readonly Message[]): void {
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    const isAsked = before?.role === "assistant" && before.calls.length > 0;
    const called = isAsked ? before.calls.map(({ toolId }) => toolId) : [];
    expect(message.role === "tool" ? message.results.map(({ toolId }) => toolId) : []).toEqual(called);
  }
  const last = messages.at(-1);
  if (last?.role === "assistant") expect(last.calls).toEqual([]);
}

/** The same for the same seed, in [0, 1). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}
