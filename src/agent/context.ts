/** How full a conversation is, and what is left of one that was summarized. */
import type { InputPart } from "../domain/index.ts";
import type { Message } from "../providers/index.ts";

/** Of the context; the rest is for the reply, and for what the estimate misses. */
const FULL = 0.85;
/** The SDK converts all messages of a request while everybody else waits: 1 to 2 µs for each (docs/adr/0049-summarize-very-many-messages.md). */
export const MAX_REQUEST_MESSAGES = 20_000;
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_BLOB = 1_500;

/** If nobody knows the size, or has counted yet, only the number of messages counts: a refusal tells the rest. */
export function isNearlyFull(
  messages: readonly Message[],
  counted: { readonly tokens: number; readonly messages: number } | undefined,
  contextSize: number | undefined,
): boolean {
  if (messages.length > MAX_REQUEST_MESSAGES) return true;
  if (contextSize === undefined || counted === undefined) return false;
  const since = messages.slice(counted.messages).reduce((sum, message) => sum + tokensOf(message), 0);
  return counted.tokens + since > contextSize * FULL;
}

/** What a summarized conversation goes on from: the summary, and what the present turn was asked, word for word. */
export function afterSummary(summary: string, input: readonly InputPart[]): Message {
  const before = `The conversation so far became too long and was summarized. This is the summary:\n\n${summary}\n\nWhat follows is what you were last asked. Go on with it from where the summary ends; do not begin anew.`;
  return { role: "user", parts: [{ type: "text", text: before }, ...input] };
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
