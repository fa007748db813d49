/** Formats messages of a conversation as text, for people and for agents that accept only text. */
import type { ConversationMessage, InputPart } from "./events.ts";

/** One block of text for each thing that was said or done. */
export function formatConversationMessage(message: ConversationMessage): string[] {
  switch (message.role) {
    case "user":
      return [`User: ${formatParts("parts" in message ? message.parts : [{ type: "text", text: message.text }])}`];
    case "assistant": {
      const calls = (message.toolCalls ?? []).map(({ name }) => `(The agent used a tool: ${name})`);
      return message.text.trim() === "" ? calls : [`Agent: ${message.text}`, ...calls];
    }
    case "tool": {
      const blobs = message.results.flatMap(({ blobs = [] }) => blobs);
      return blobs.length === 0 ? [] : [`(The tools returned: ${formatParts(blobs)})`];
    }
  }
}

function formatParts(parts: readonly InputPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.name ?? part.mediaType}]`)).join("\n");
}
