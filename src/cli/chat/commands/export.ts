/** `/export`: writes the conversation to a Markdown file. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { formatInput, type SessionEvent } from "../../../domain/events.ts";
import { RookeryError } from "../../../domain/errors.ts";
import { toSingleLine } from "../../sanitize.ts";
import { readSessionEvents } from "../../sessions/read-events.ts";
import type { ChatHost } from "../host.ts";

export async function exportConversation(chat: ChatHost, named: string): Promise<void> {
  const { sessionId, rookery } = chat.connection;
  if (sessionId === undefined) throw new RookeryError("input_invalid", "the conversation has no turn yet");
  const path = resolve(chat.cwd, named === "" ? `${sessionId}.md` : named);
  const parts: string[] = [];
  for await (const event of readSessionEvents(rookery.store, sessionId, 0)) parts.push(...toMarkdownParts(event));
  try {
    await writeFile(path, `${parts.join("\n\n")}\n`, { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new RookeryError("input_invalid", `${path} exists; name another file: /export FILE`);
  }
  chat.notice(`wrote ${path}`, "dim");
}

export function toMarkdownParts(event: SessionEvent): string[] {
  switch (event.type) {
    case "turn.started":
    case "input.delivered":
      return event.input.length === 0 ? [] : ["## You", formatInput(event.input)];
    case "message.completed":
      return event.text.trim() === "" ? [] : [`## ${event.agent}`, event.text.trim()];
    case "tool.started":
      return [`- ${toSingleLine(event.title === "" ? event.name : event.title)}`];
    default: // other events are not part of the conversation
      return [];
  }
}
