/** Estimates how full a model's context is, and builds the message that replaces a summarized conversation. */
import type { InputPart } from "../domain/index.ts";
import type { CompletionMessage } from "../providers/index.ts";

/** Share of the context that a conversation may fill. The rest is for the reply and for estimation errors. */
const FULL_RATIO = 0.85;
/**
 * The SDK converts and serializes a whole request at once, which blocks the event loop for 1 to 2 µs per message and 5 ms
 * per million characters (docs/adr/0049-summarize-oversized-conversations.md). No model accepts requests of this size.
 */
export const MAX_REQUEST_MESSAGES = 20_000;
export const MAX_REQUEST_CHARACTERS = 8_000_000;
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_BLOB = 1_500;

/**
 * If the context size or the token count is unknown, only the maximum size of a request decides. The provider then
 * rejects a request that is too long.
 */
export function isContextNearlyFull(
  messages: readonly CompletionMessage[],
  tokenCount: { readonly tokens: number; readonly messages: number } | undefined,
  contextSize: number | undefined,
): boolean {
  if (isOversized(messages)) return true;
  if (contextSize === undefined || tokenCount === undefined) return false;
  const newTokens = messages
    .slice(tokenCount.messages)
    .reduce((sum, message) => sum + estimateMessageTokens(message), 0);
  return tokenCount.tokens + newTokens > contextSize * FULL_RATIO;
}

/** Creates the first message after a summary: the summary, followed by the unchanged input of the current turn. */
export function createSummaryMessage(summary: string, input: readonly InputPart[]): CompletionMessage {
  const intro = `The conversation so far became too long and was summarized. This is the summary:\n\n${summary}\n\nThe user's latest request follows. Continue it from where the summary ends; do not start over.`;
  return { role: "user", parts: [{ type: "text", text: intro }, ...input] };
}

function isOversized(messages: readonly CompletionMessage[]): boolean {
  if (messages.length > MAX_REQUEST_MESSAGES) return true;
  return messages.reduce((sum, message) => sum + countCharacters(message), 0) > MAX_REQUEST_CHARACTERS;
}

/** A rough count, because it runs over all messages before each step: of arguments only strings count. */
function countCharacters(message: CompletionMessage): number {
  switch (message.role) {
    case "user":
      return sumTextLengths(message.parts.map((part) => (part.type === "text" ? part.text : "")));
    case "assistant":
      return (
        message.text.length +
        message.calls.reduce((sum, { input }) => sum + sumTextLengths(Object.values(input ?? {})), 0)
      );
    case "tool":
      return sumTextLengths(message.results.map(({ text }) => text));
  }
}

function sumTextLengths(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);
}

function estimateMessageTokens(message: CompletionMessage): number {
  switch (message.role) {
    case "user":
      return message.parts.reduce(
        (sum, part) => sum + (part.type === "text" ? estimateTextTokens(part.text) : TOKENS_PER_BLOB),
        0,
      );
    case "assistant":
      return estimateTextTokens(message.text) + estimateTextTokens(JSON.stringify(message.calls));
    case "tool":
      return message.results.reduce(
        (sum, { text, blobs = [] }) => sum + estimateTextTokens(text) + blobs.length * TOKENS_PER_BLOB,
        0,
      );
  }
}

function estimateTextTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
