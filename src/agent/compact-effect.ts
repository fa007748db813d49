/** The effect that summarizes a conversation that became too long. The log keeps the whole conversation. */
import { z } from "zod";
import { formatInput, type TurnContext } from "../domain/index.ts";
import { mapInLoopSlices } from "../stdx/index.ts";
import type { TurnEffect } from "./machine.ts";
import type { CompletionMessage, ModelReply } from "../providers/index.ts";
import { parseModelOutcome, catchModelFailure, type ModelFailure } from "./model-effect.ts";
import type { TurnAgent } from "./turn-agent.ts";
import { createUsageEvent } from "./usage-event.ts";

const INSTRUCTIONS = [
  "You are given the record of a conversation between a person and a coding agent. It has become too long to continue.",
  "Write everything that the agent needs to continue as if it remembered the whole conversation: what the person asked for, in their own terms; what was decided, and why; which files were read or changed, with the relevant names and lines; which commands were run, and their results; what failed; what remains to be done, and the next step.",
  "Omit what is no longer relevant. Do not invent anything. Do not continue the work itself.",
].join("\n");

/** Maximum length of one tool result and of one call's arguments in the record. */
const MAX_ITEM_LENGTH = 2_000;
/** Maximum length of the record if the context size is unknown. Most models accept more. */
const DEFAULT_MAX_LENGTH = 300_000;
const CHARACTERS_PER_TOKEN = 3;

/** An empty summary would lose the conversation, so it counts as a failure. */
const EMPTY_SUMMARY: ModelFailure = {
  failed: { code: "provider_failed", message: "the model returned an empty summary", retry: {} },
};

type CompactEffect = Extract<TurnEffect, { type: "compact" }>;

/** Rejects with a ProviderError if the account has reached its usage limit. */
export async function summarizeConversation(
  agent: TurnAgent,
  turn: TurnContext,
  effect: CompactEffect,
): Promise<string | ModelFailure> {
  const { step, id } = effect;
  const settled = await turn.effects.run<string | ModelFailure>({
    key: { sessionId: agent.sessionId, turnId: turn.turnId, step, kind: "model", id },
    repeatable: true,
    perform: async () => {
      await turn.log.commit();
      const answer = await catchModelFailure(requestSummary(agent, turn, effect));
      if ("failed" in answer) return { value: answer, events: [] };
      const usage = createUsageEvent(answer, agent.model.name, agent.price);
      if (answer.text.trim() === "") return { value: EMPTY_SUMMARY, events: [usage] };
      await turn.log.commit();
      const compacted = { type: "context.compacted" as const, summary: answer.text, throughSeq: turn.log.head ?? 0 };
      return { value: answer.text, events: [compacted, usage] };
    },
    parse: (value) => parseModelOutcome(value, (text) => z.string().parse(text)),
  });
  return settled.value;
}

async function requestSummary(
  { model, onModelOutput }: TurnAgent,
  turn: TurnContext,
  { messages, halvings }: CompactEffect,
): Promise<ModelReply> {
  const { signal } = turn;
  const record = await mapInLoopSlices(messages, (message) => `${formatForSummary(message)}\n\n`);
  const length = record.reduce((sum, text) => sum + text.length, 0);
  const limit = model.contextSize === undefined ? DEFAULT_MAX_LENGTH : (model.contextSize * CHARACTERS_PER_TOKEN) / 2;
  const maxLength = Math.min(limit, length) / 2 ** halvings;
  const text = `The record:\n\n${omitMiddle(joinEnds(record, maxLength), maxLength, length)}Write the summary now.`;
  const request: CompletionMessage = { role: "user", parts: [{ type: "text", text }] };
  const blob = () => Promise.resolve(undefined);
  for await (const part of model.stream({ system: INSTRUCTIONS, messages: [request], tools: [], signal, blob })) {
    onModelOutput();
    if (part.type === "reply") return part.reply;
  }
  throw new Error("the model's stream ended without a reply");
}

function formatForSummary(message: CompletionMessage): string {
  switch (message.role) {
    case "user":
      return `PERSON: ${formatInput(message.parts)}`;
    case "assistant": {
      const calls = message.calls.map(
        ({ name, input }) => `CALLS ${name} ${omitMiddle(JSON.stringify(input) ?? "", MAX_ITEM_LENGTH)}`,
      );
      return [`AGENT: ${message.text}`, ...calls].join("\n");
    }
    case "tool":
      return message.results
        .map(
          ({ name, text, failed }) =>
            `${failed ? "FAILED" : "RESULT OF"} ${name}: ${omitMiddle(text, MAX_ITEM_LENGTH)}`,
        )
        .join("\n");
  }
}

/** Joins texts from both ends, at least `minLength` characters each, because the whole record can be very long. */
function joinEnds(texts: readonly string[], minLength: number): string {
  let [first, last, firstLength, lastLength] = [0, texts.length, 0, 0];
  for (; first < last && firstLength < minLength; first += 1) firstLength += texts[first]?.length ?? 0;
  for (; first < last && lastLength < minLength; last -= 1) lastLength += texts[last - 1]?.length ?? 0;
  return [...texts.slice(0, first), ...texts.slice(last)].join("");
}

/** Keeps the start and the end, which matter most. `length` is that of the complete text. */
function omitMiddle(text: string, maxLength: number, length = text.length): string {
  if (length <= maxLength) return text;
  const half = Math.floor(maxLength / 2);
  return `${text.slice(0, half).toWellFormed()}\n[… ${length - 2 * half} characters omitted …]\n${text.slice(-half).toWellFormed()}`;
}
