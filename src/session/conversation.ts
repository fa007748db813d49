/** What may take the place of a conversation. */
import { RookeryError, type EventOf } from "../domain/index.ts";
import { MAX_INPUT_BYTES } from "./input.ts";
import { parseReplacedMessages } from "./parameters.ts";

export type ReplacedMessage = EventOf<"conversation.replaced">["messages"][number];
type Replacement = Pick<EventOf<"conversation.replaced">, "type" | "messages">;

/** Past this it is not a conversation that anyone had. */
export const MAX_MESSAGES = 10_000;

/** None begins anew. Throws `input_invalid` or `input_too_large`. */
export function toReplacementEvent(given: readonly ReplacedMessage[]): Replacement {
  const messages = parseReplacedMessages(given);
  if (messages.length > MAX_MESSAGES) {
    throw tooLarge(`it has ${messages.length} messages, and at most ${MAX_MESSAGES} are taken`);
  }
  if (messages.some(({ text }) => text.trim() === "")) {
    throw invalid("one of its messages is empty, which no provider takes: leave it out");
  }
  if (messages[0]?.role === "assistant") {
    throw invalid("its first message is the assistant's, which not every provider takes: begin with the user's");
  }
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (bytes > MAX_INPUT_BYTES) throw tooLarge(`it has ${bytes} bytes, and at most ${MAX_INPUT_BYTES} are taken`);
  return { type: "conversation.replaced", messages: messages.map(({ role, text }) => ({ role, text })) };
}

function invalid(what: string): RookeryError {
  return new RookeryError("input_invalid", `the new conversation cannot be used: ${what}`);
}

function tooLarge(what: string): RookeryError {
  return new RookeryError("input_too_large", `the new conversation is too long: ${what}; give less of it`);
}
