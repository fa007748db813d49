/** `/fork` and `/compact`. */
import { RookeryError } from "../../../domain/errors.ts";
import { shortId } from "../../../domain/ids.ts";
import type { Session } from "../../../session/session.ts";
import { readSessionEvents } from "../../sessions/read-events.ts";
import type { ChatHost } from "../host.ts";
import { SUMMARY_PROMPT } from "../conversation/summary-prompt.ts";

export async function forkConversation(chat: ChatHost): Promise<void> {
  const { rookery, sessionId } = chat.connection;
  if (sessionId === undefined) throw nothingYet();
  const forked = await rookery.forkSession(sessionId);
  const summary = await rookery.store.summary(forked);
  if (summary === undefined) throw new RookeryError("session_not_found", `there is no session ${forked}`);
  await chat.continueSession(summary);
  chat.notice(`this is a copy of ${shortId(sessionId)}, which stays as it is`, "dim");
}

/** Works with every agent: it writes the summary in a turn, and the conversation is replaced by it. */
export async function compactConversation(chat: ChatHost): Promise<void> {
  await chat.connection.open();
  const { session, rookery } = chat.connection;
  if (session === undefined || session.state.turns === 0) throw nothingYet();
  chat.notice("the agent summarizes the conversation…", "dim");
  const turn = session.prompt(SUMMARY_PROMPT);
  const { status } = await turn.outcome;
  if (status !== "done")
    throw new RookeryError("agent_failed", "the agent wrote no summary, so the conversation is unchanged; try again");
  const summary = await lastMessage(rookery.store, session, turn.id);
  if (summary === "")
    throw new RookeryError("agent_failed", "the summary is empty, so the conversation is unchanged; try again");
  await session.replaceConversation([{ role: "user", text: `Summary of our conversation so far:\n\n${summary}` }]);
}

async function lastMessage(store: Parameters<typeof readSessionEvents>[0], session: Session, turnId: string) {
  let text = "";
  for await (const event of readSessionEvents(store, session.id, Math.max(0, session.state.head - 2_000))) {
    if (event.type === "message.completed" && event.turnId === turnId && event.text.trim() !== "") text = event.text;
  }
  return text;
}

function nothingYet(): RookeryError {
  return new RookeryError("input_invalid", "the conversation has no turn yet; send a prompt first");
}
