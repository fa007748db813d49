/** The text of an event that a person would search for. */
import type { ConversationMessage, InputPart, SessionEvent } from "../domain/events.ts";

/** Longer texts are searched up to here. */
const MAX_TEXT = 200_000;
const EXCERPT_BEFORE = 60;
const EXCERPT_LENGTH = 200;

/** Empty for events that repeat what another event has, such as the pieces of a message. */
export function searchableText(event: SessionEvent): string {
  return textOfEvent(event).slice(0, MAX_TEXT);
}

function textOfEvent(event: SessionEvent): string {
  switch (event.type) {
    case "turn.started":
    case "input.delivered":
      return inputText(event.input);
    case "message.completed":
      return event.text;
    case "conversation.replaced":
      return event.messages.flatMap(conversationText).join("\n");
    case "tool.started":
      return `${event.name} ${event.title}`;
    case "tool.ended":
      return event.text ?? "";
    case "permission.requested":
      return `${event.tool} ${event.title}`;
    case "question.asked":
    case "notice":
      return event.message;
    case "turn.ended":
      return "message" in event.outcome ? event.outcome.message : "";
    default:
      return "";
  }
}

function conversationText(message: ConversationMessage): string[] {
  if (message.role === "tool") return message.results.map(({ text }) => text);
  if ("parts" in message) return [inputText(message.parts)];
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  return [message.text, ...calls.map(({ name }) => name)];
}

function inputText(input: readonly InputPart[]): string {
  return input.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** One line around the position `at`. */
export function formatExcerpt(text: string, at: number): string {
  const start = Math.max(0, at - EXCERPT_BEFORE);
  const end = start + EXCERPT_LENGTH;
  const line = text.slice(start, end).replaceAll(/\s+/g, " ").trim();
  return `${start > 0 ? "…" : ""}${line}${end < text.length ? "…" : ""}`.toWellFormed();
}
