/** Reads the messages that a new session of `rookery run` starts with. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ConversationMessage } from "../../domain/events.ts";
import { messageOf } from "../../domain/errors.ts";
import { usageError } from "../exit.ts";
import type { Io } from "../io.ts";

/** Reads JSON: a list of messages, or an object with `messages` as in the HTTP API. The session checks the content. */
export async function readMessages(
  io: Io,
  file: string | undefined,
  sessionName: string | undefined,
): Promise<readonly ConversationMessage[] | undefined> {
  if (file === undefined) return undefined;
  if (sessionName !== undefined) {
    throw usageError("--messages is for a new session: leave out --session and --continue, or leave out --messages");
  }
  let content: unknown;
  try {
    content = JSON.parse(await readFile(resolve(io.cwd(), file), "utf8"));
  } catch (cause) {
    throw usageError(`the messages in ${file} cannot be read (${messageOf(cause)}): name a file with JSON`);
  }
  const messages =
    typeof content === "object" && content !== null && "messages" in content ? content.messages : content;
  return messages as readonly ConversationMessage[];
}
