/** Our messages in the AI SDK's form. */
import type { AssistantContent, ModelMessage } from "ai";
import { textOf } from "../domain/index.ts";
import type { Message } from "./model.ts";

/** An assistant message as its provider gave it, with what our own form has no place for (signed thoughts). */
export interface Native {
  readonly provider: string;
  readonly content: Exclude<AssistantContent, string>;
}

export function toModelMessages(messages: readonly Message[], provider: string): ModelMessage[] {
  return messages.map((message): ModelMessage => {
    switch (message.role) {
      case "user":
        return { role: "user", content: textOf(message.parts) };
      case "assistant":
        return { role: "assistant", content: assistantContent(message, provider) };
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
  });
}

function assistantContent(
  { text, calls, native }: Extract<Message, { role: "assistant" }>,
  provider: string,
): Exclude<AssistantContent, string> {
  if (isNative(native, provider)) return native.content;
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map((call) => ({
      type: "tool-call" as const,
      toolCallId: call.toolId,
      toolName: call.name,
      input: call.input,
    })),
  ];
}

function isNative(native: unknown, provider: string): native is Native {
  if (typeof native !== "object" || native === null) return false;
  const { provider: from, content } = native as Partial<Native>;
  return from === provider && Array.isArray(content) && content.length > 0;
}
