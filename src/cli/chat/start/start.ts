/** Chooses the conversation that a chat starts with. */
import type { SessionSummary } from "../../../domain/summary.ts";
import type { Rookery } from "../../../rookery.ts";
import { listConversations } from "./find-conversation.ts";
import type { ChatHost } from "../host.ts";

export type ChatStart =
  | { readonly type: "new" }
  | { readonly type: "continue" }
  | { readonly type: "pick" }
  | { readonly type: "session"; readonly find: (rookery: Rookery) => Promise<SessionSummary> };

/**
 * Resolves with the conversation to continue. For a new chat, it is the one that the chat offers to continue. Resolves
 * with `cancelled` if the person chooses none of the list.
 */
export async function findStartConversation(
  chat: ChatHost,
  start: ChatStart,
): Promise<SessionSummary | "cancelled" | undefined> {
  const { rookery } = chat.connection;
  switch (start.type) {
    case "session":
      return start.find(rookery);
    case "new":
    case "continue":
      return (await listConversations(rookery.store, chat.cwd, 1))[0];
    case "pick": {
      const isEmpty = (await listConversations(rookery.store, chat.cwd, 1)).length === 0;
      return (await chat.pickConversation()) ?? (isEmpty ? undefined : "cancelled");
    }
  }
}
