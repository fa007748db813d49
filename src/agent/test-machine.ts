/** Drives the turn machine by hand: the test sends events, and the effects are formatted as lines. */
import { expect } from "vitest";
import type { CompletionMessage } from "../providers/index.ts";
import type { PlannedCall } from "./reply-calls.ts";
import {
  advanceTurn,
  startTurnMachine,
  type TurnEffect,
  type TurnEvent,
  type TurnState,
  type TurnParameters,
} from "./machine.ts";

export const PARAMETERS: TurnParameters = {
  input: [{ type: "text", text: "go" }],
  contextSize: 1_000,
  retry: { retries: 2, firstDelayMs: 100 },
};
export const MESSAGES: readonly CompletionMessage[] = [{ role: "user", parts: PARAMETERS.input }];
const USAGE = { outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

export class MachinePlayer {
  state: TurnState;
  readonly effects: TurnEffect[] = [];

  constructor(parameters: Partial<TurnParameters> = {}, tokenCount?: TurnState["tokenCount"], messages = MESSAGES) {
    const first = startTurnMachine(messages, { ...PARAMETERS, ...parameters }, tokenCount);
    this.state = first.state;
    this.effects.push(...first.effects);
  }

  /** Returns the effects that the event causes. */
  send(event: TurnEvent): readonly TurnEffect[] {
    const { state, effects } = advanceTurn(this.state, event);
    this.state = state;
    this.effects.push(...effects);
    return effects;
  }

  sendAll(...events: readonly TurnEvent[]): this {
    for (const event of events) this.send(event);
    return this;
  }

  get lines(): string[] {
    return this.effects.map(formatEffect);
  }
}

export const prepared = (...inputs: string[]): TurnEvent => {
  return { type: "step_prepared", inputs: inputs.map((text) => [{ type: "text", text }]) };
};
export const waited: TurnEvent = { type: "waited" };
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

/** A call whose id ends with `!` must run alone. */
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

/** Formats an effect briefly, with only what the tests compare. */
export function formatEffect(effect: TurnEffect): string {
  switch (effect.type) {
    case "prepare_step":
      return `prepare ${effect.step}${effect.final ? " or end" : ""}`;
    case "call_model":
      return `ask ${effect.step} ${effect.id}: ${effect.messages.map(formatMessage).join(", ")}`;
    case "compact":
      return `summarize ${effect.step} ${effect.id}${effect.halvings > 0 ? ` halved ${effect.halvings}` : ""}`;
    case "wait":
      return `wait ${effect.id} ${effect.ms} ms, then ${effect.next} of ${effect.of}`;
    case "run_tool":
      return `run ${effect.call.toolId}`;
    case "end":
      return effect.outcome.status === "failed" ? `end failed ${effect.outcome.code}` : `end ${effect.outcome.status}`;
  }
}

function formatMessage(message: CompletionMessage): string {
  switch (message.role) {
    case "user":
      return message.parts.map((part) => (part.type === "text" ? shortenSummary(part.text) : part.type)).join("+");
    case "assistant":
      return message.calls.length > 0 ? "calls" : `"${message.text}"`;
    case "tool":
      return `[${message.results.map(({ toolId }) => toolId).join(" ")}]`;
  }
}

function shortenSummary(text: string): string {
  return text.includes("in short") ? "summary" : text;
}

/** Expects that each message with calls is followed by the results of exactly these calls, in their order. */
export function expectPaired(messages: readonly CompletionMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    const hasCalls = before?.role === "assistant" && before.calls.length > 0;
    const called = hasCalls ? before.calls.map(({ toolId }) => toolId) : [];
    expect(message.role === "tool" ? message.results.map(({ toolId }) => toolId) : []).toEqual(called);
  }
  const last = messages.at(-1);
  if (last?.role === "assistant") expect(last.calls).toEqual([]);
}

/** Returns numbers in [0, 1). The same seed gives the same numbers. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}
