/** Validates the messages that replace a conversation. */
import { RookeryError, type EventOf } from "../domain/index.ts";
import { MAX_INPUT_BYTES } from "./input.ts";
import type { ReplacedMessage } from "./method-types.ts";
import { parseReplacedMessages } from "./parameters.ts";

type Replacement = Pick<EventOf<"conversation.replaced">, "type" | "messages">;

/** The maximum number of messages in a replacement. */
export const MAX_MESSAGES = 10_000;

/** An empty list starts an empty conversation. Throws `input_invalid` or `input_too_large`. */
export function toReplacementEvent(input: readonly ReplacedMessage[]): Replacement {
  const messages = parseReplacedMessages(input);
  if (messages.length > MAX_MESSAGES) {
    throw tooLarge(`it has ${messages.length} messages, and the limit is ${MAX_MESSAGES}`);
  }
  if (messages.some(({ text }) => text.trim() === "")) {
    throw invalid("one message is empty, and providers reject empty messages; remove it");
  }
  if (messages[0]?.role === "assistant") {
    throw invalid("its first message is from the assistant, and some providers reject that; start with a user message");
  }
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (bytes > MAX_INPUT_BYTES) throw tooLarge(`it has ${bytes} bytes, and the limit is ${MAX_INPUT_BYTES}`);
  return { type: "conversation.replaced", messages: messages.map(({ role, text }) => ({ role, text })) };
}

function invalid(what: string): RookeryError {
  return new RookeryError("input_invalid", `the new conversation cannot be used: ${what}`);
}

function tooLarge(what: string): RookeryError {
  return new RookeryError("input_too_large", `the new conversation is too long: ${what}; shorten it`);
}
