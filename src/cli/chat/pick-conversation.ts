/** Lets the person choose a conversation of the directory. */
import type { SessionSummary } from "../../domain/summary.ts";
import { formatAge } from "../format.ts";
import { toSingleLine } from "../sanitize.ts";
import { listConversations } from "./find-conversation.ts";
import type { ChatHost } from "./host.ts";

/** Resolves with undefined if there is none, or if the person cancels. */
export async function pickConversation(chat: ChatHost): Promise<SessionSummary | undefined> {
  const found = await listConversations(chat.connection.rookery.store, chat.cwd);
  if (found.length === 0) {
    chat.notice("there is no conversation in this directory yet", "dim");
    return undefined;
  }
  const items = found.map(({ id, title = "", updatedAt, agent, turns }) => ({
    value: id,
    label: toSingleLine(title === "" ? id : title, 60),
    detail: `${formatAge(updatedAt, Date.now())} · ${agent} · ${turns} ${turns === 1 ? "turn" : "turns"}`,
  }));
  const chosen = await chat.keys.select("Continue a conversation", items);
  return found.find(({ id }) => id === chosen?.value);
}
