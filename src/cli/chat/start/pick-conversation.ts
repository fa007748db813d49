/** Lets the person choose a conversation of the directory. */
import { shortId } from "../../../domain/ids.ts";
import type { SessionSummary } from "../../../domain/summary.ts";
import { formatAge, formatCount } from "../../format.ts";
import { stripHidden, toSingleLine } from "../../sanitize.ts";
import type { SelectItem } from "../../tui/select-list.ts";
import { listConversations } from "./find-conversation.ts";
import type { ChatHost } from "../host.ts";

/** Resolves with undefined if there is none, or if the person cancels. */
export async function pickConversation(chat: ChatHost): Promise<SessionSummary | undefined> {
  const found = await listConversations(chat.connection.rookery.store, chat.cwd);
  if (found.length === 0) {
    chat.notice("there is no conversation in this directory yet", "dim");
    return undefined;
  }
  const items = toConversationItems(found, { currentId: chat.connection.sessionId, now: Date.now() });
  const chosen = await chat.keys.select("Continue a conversation", items);
  return found.find(({ id }) => id === chosen?.value);
}

const MAX_TEXT_LENGTH = 120;

/** Conversations that failed before the first answer come last, so that they do not hide the others. */
export function toConversationItems(
  found: readonly SessionSummary[],
  { currentId, now }: { readonly currentId: string | undefined; readonly now: number },
): SelectItem[] {
  const sorted = [...found.filter((one) => !isUnanswered(one)), ...found.filter(isUnanswered)];
  return sorted.map((summary) => {
    const { id, title = "", updatedAt, agent, turns } = summary;
    return {
      value: id,
      label: toSingleLine(stripHidden(title === "" ? "no title" : title), MAX_TEXT_LENGTH),
      facts: [
        formatAge(updatedAt, now),
        isUnanswered(summary) ? "failed" : `${formatCount(turns)} ${turns === 1 ? "turn" : "turns"}`,
        shortId(id),
        toSingleLine(agent, 20),
      ],
      detail: describeConversation(summary),
      isDim: isUnanswered(summary),
      isCurrent: id === currentId,
    };
  });
}

/** Tells forks and conversations with the same title apart. */
function describeConversation({ title, lastPrompt = "", parent }: SessionSummary): string {
  const isNews = lastPrompt !== "" && !lastPrompt.startsWith(title ?? "");
  const last = isNews ? `last: ${toSingleLine(stripHidden(lastPrompt), MAX_TEXT_LENGTH)}` : "";
  return [parent === undefined ? "" : "fork", last].filter((part) => part !== "").join(" · ");
}

function isUnanswered({ turns, lastOutcome, lastLine }: SessionSummary): boolean {
  return turns === 1 && lastOutcome === "failed" && lastLine === undefined;
}
