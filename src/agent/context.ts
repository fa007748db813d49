/** How full a conversation is, and what is left of one that was summarized. */
import type { InputPart } from "../domain/index.ts";
import type { Message } from "../providers/index.ts";

/** Of the context; the rest is for the reply, and for what the estimate misses. */
const FULL = 0.85;
/**
 * The SDK converts and serializes a whole request while everybody else waits: 1 to 2 µs for each message, and 5 ms for
 * each million characters (docs/adr/0049-summarize-oversized-conversations.md). No model takes as many.
 */
export const MAX_REQUEST_MESSAGES = 20_000;
export const MAX_REQUEST_CHARACTERS = 8_000_000;
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_BLOB = 1_500;

/** If nobody knows the size, or has counted yet, only the largest request counts: a refusal tells the rest. */
export function isNearlyFull(
  messages: readonly Message[],
  counted: { readonly tokens: number; readonly messages: number } | undefined,
  contextSize: number | undefined,
): boolean {
  if (isOversized(messages)) return true;
  if (contextSize === undefined || counted === undefined) return false;
  const since = messages.slice(counted.messages).reduce((sum, message) => sum + tokensOf(message), 0);
  return counted.tokens + since > contextSize * FULL;
}

/** What a summarized conversation goes on from: the summary, and what the present turn was asked, word for word. */
export function afterSummary(summary: string, input: readonly InputPart[]): Message {
  const before = `The conversation so far became too long and was summarized. This is the summary:\n\n${summary}\n\nWhat follows is what you were last asked. Go on with it from where the summary ends; do not begin anew.`;
  return { role: "user", parts: [{ type: "text", text: before }, ...input] };
}

function isOversized(messages: readonly Message[]): boolean {
  if (messages.length > MAX_REQUEST_MESSAGES) return true;
  return messages.reduce((sum, message) => sum + charactersOf(message), 0) > MAX_REQUEST_CHARACTERS;
}

/** Roughly, because it is asked of all messages before each step: of arguments only the texts count. */
function charactersOf(message: Message): number {
  switch (message.role) {
    case "user":
      return lengthOf(message.parts.map((part) => (part.type === "text" ? part.text : "")));
    case "assistant":
      return (
        message.text.length + message.calls.reduce((sum, { input }) => sum + lengthOf(Object.values(input ?? {})), 0)
      );
    case "tool":
      return lengthOf(message.results.map(({ text }) => text));
  }
}

function lengthOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);
}

function tokensOf(message: Message): number {
  switch (message.role) {
    case "user":
      return message.parts.reduce(
        (sum, part) => sum + (part.type === "text" ? textTokens(part.text) : TOKENS_PER_BLOB),
        0,
      );
    case "assistant":
      return textTokens(message.text) + textTokens(JSON.stringify(message.calls));
    case "tool":
      return message.results.reduce(
        (sum, { text, blobs = [] }) => sum + textTokens(text) + blobs.length * TOKENS_PER_BLOB,
        0,
      );
  }
}

function textTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
