/** Our messages in the AI SDK's form. */
import type { AssistantContent, ModelMessage } from "ai";
import { RookeryError, type InputPart } from "../domain/index.ts";
import type { Message } from "./model.ts";
import { wellFormed } from "./well-formed.ts";

/**
 * An assistant message as its model gave it, with what our own form has no place for (signed thoughts). Another model
 * of the same provider may refuse it.
 */
export interface Native extends Origin {
  readonly content: Exclude<AssistantContent, string>;
}

export interface Origin {
  readonly provider: string;
  readonly model: string;
}

/** Throws `input_invalid` where the input of the turn is something that cannot be given to a model yet. */
export function toModelMessages(messages: readonly Message[], target: Origin): ModelMessage[] {
  const input = messages.findLast(({ role }) => role === "user");
  return messages.map((message): ModelMessage => wellFormed(toModelMessage(message, message === input, target)));
}

function toModelMessage(message: Message, isInput: boolean, target: Origin): ModelMessage {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.parts.map((part) => inputText(part, isInput)).join("\n") };
    case "assistant":
      return { role: "assistant", content: assistantContent(message, target) };
    case "tool":
      return {
        role: "tool",
        content: message.results.map(({ toolId, name, text, failed }) => ({
          type: "tool-result",
          toolCallId: toolId,
          toolName: name,
          output: { type: failed ? "error-text" : "text", value: text },
        })),
      };
  }
}

/** What an earlier turn was refused for must not stand in the way of every later one. */
function inputText(part: InputPart, isInput: boolean): string {
  if (part.type === "text") return part.text;
  const name = part.name ?? part.mediaType;
  if (!isInput) return `[not given to you: ${name}]`;
  throw new RookeryError(
    "input_invalid",
    `${name} cannot be given to a model yet: put the file in the folder instead, or send its text`,
  );
}

function assistantContent(
  { text, calls, native }: Extract<Message, { role: "assistant" }>,
  target: Origin,
): Exclude<AssistantContent, string> {
  if (isNative(native, target)) return native.content;
  return [
    ...(text.trim() === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map((call) => ({
      type: "tool-call" as const,
      toolCallId: call.toolId,
      toolName: call.name,
      input: call.input,
    })),
  ];
}

function isNative(native: unknown, target: Origin): native is Native {
  if (typeof native !== "object" || native === null) return false;
  const { provider, model, content } = native as Partial<Native>;
  return provider === target.provider && model === target.model && Array.isArray(content) && content.length > 0;
}
