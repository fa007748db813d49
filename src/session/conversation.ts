/** Validates the messages that a session starts with, or that replace its conversation. */
import { RookeryError, type BlobPart, type ConversationMessage, type EventOf } from "../domain/index.ts";
import { MAX_INPUT_BYTES } from "./input.ts";
import { parseConversation } from "./parameters.ts";

export type Replacement = Pick<EventOf<"conversation.replaced">, "type" | "messages">;

/** The maximum number of messages in a conversation that a caller passes. */
export const MAX_MESSAGES = 10_000;
/** What every provider accepts as the name of a tool or the ID of a call. */
const TOOL_WORD = /^[A-Za-z0-9_-]{1,64}$/;

type Results = Extract<ConversationMessage, { role: "tool" }>["results"];

/** An empty list starts an empty conversation. Throws `input_invalid` or `input_too_large`. */
export function toReplacementEvent(input: readonly ConversationMessage[]): Replacement {
  const given = parseConversation(input);
  if (given.length > MAX_MESSAGES) throw tooLarge(`it has ${given.length} messages, and the limit is ${MAX_MESSAGES}`);
  const messages = copyJson(given);
  new ConversationCheck().checkAll(messages);
  return { type: "conversation.replaced", messages };
}

/** The attachments of all messages. */
export function listConversationBlobs({ messages }: Replacement): BlobPart[] {
  return messages.flatMap((message): BlobPart[] => {
    if (message.role === "tool") return message.results.flatMap(({ blobs = [] }) => blobs);
    return "parts" in message ? message.parts.filter((part) => part.type === "blob") : [];
  });
}

/** Providers reject a call without a result, a result without its call, and two calls with one ID. */
class ConversationCheck {
  readonly #known = new Set<string>();
  /** The calls of the last message, which the next one must answer. */
  #open: readonly string[] = [];

  checkAll(messages: readonly ConversationMessage[]): void {
    for (const [index, message] of messages.entries()) this.#check(message, index);
    this.#refuseOpenCalls(messages.length);
  }

  #check(message: ConversationMessage, index: number): void {
    if (message.role === "tool") return this.#checkResults(message.results, index);
    this.#refuseOpenCalls(index);
    if (message.role === "user") {
      const parts = "parts" in message ? message.parts : [{ type: "text" as const, text: message.text }];
      if (parts.every((part) => part.type === "text" && part.text.trim() === "")) throw empty(index);
      return;
    }
    const { text, toolCalls = [] } = message;
    if (index === 0) {
      throw invalid(
        "its first message is from the assistant, and some providers reject that; start with a user message",
      );
    }
    if (text.trim() === "" && toolCalls.length === 0) throw empty(index);
    for (const { toolId, name } of toolCalls) this.#addCall(toolId, name, index);
    this.#open = toolCalls.map(({ toolId }) => toolId);
  }

  #addCall(toolId: string, name: string, index: number): void {
    for (const [what, word] of Object.entries({ toolId, name })) {
      if (TOOL_WORD.test(word)) continue;
      const rule = "use at most 64 letters, digits, _ and -";
      throw invalid(`the ${what} ${quote(word)} in messages.${index} is not accepted by every provider; ${rule}`);
    }
    if (this.#known.has(toolId)) throw invalid(`two calls have the id ${quote(toolId)}; give each call its own`);
    this.#known.add(toolId);
  }

  #checkResults(results: Results, index: number): void {
    const open = new Set(this.#open);
    for (const { toolId } of results) {
      if (open.delete(toolId)) continue;
      const why = "the message before it has no such call, or it is answered already";
      throw invalid(`messages.${index} has a result for the call ${quote(toolId)}, but ${why}`);
    }
    if (results.length === 0) throw empty(index);
    this.#open = [...open];
    this.#refuseOpenCalls(index + 1);
  }

  #refuseOpenCalls(index: number): void {
    const [first] = this.#open;
    if (first === undefined) return;
    throw invalid(
      `the call ${quote(first)} has no result before messages.${index}; add it in a message of the role tool`,
    );
  }
}

/** Throws if the messages are not JSON or are too long. The copy is not the caller's, who may change it. */
function copyJson(messages: readonly ConversationMessage[]): ConversationMessage[] {
  let text: string;
  try {
    text = JSON.stringify(messages);
  } catch (cause) {
    throw new RookeryError("input_invalid", "the conversation cannot be used: a call has an input that is not JSON", {
      cause,
    });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_INPUT_BYTES) throw tooLarge(`it has ${bytes} bytes, and the limit is ${MAX_INPUT_BYTES}`);
  return [...parseConversation(JSON.parse(text))];
}

function quote(word: string): string {
  return JSON.stringify(word.slice(0, 80));
}

function empty(index: number): RookeryError {
  return invalid(`messages.${index} is empty, and providers reject empty messages; remove it`);
}

function invalid(what: string): RookeryError {
  return new RookeryError("input_invalid", `the conversation cannot be used: ${what}`);
}

function tooLarge(what: string): RookeryError {
  return new RookeryError("input_too_large", `the conversation is too long: ${what}; shorten it`);
}
