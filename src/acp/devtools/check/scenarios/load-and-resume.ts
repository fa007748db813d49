/** Loads and resumes a session in another process of the agent. */
import { formatOutcome, type RequestOutcome } from "../agent/outcome.ts";
import { holdConversation } from "../past-conversation.ts";
import { openInitializedAgent, type CheckContext } from "../context.ts";
import { watchUpdates, removeWhitespace, type UpdatesAroundAnswer } from "../turn-updates.ts";

export async function checkLoad(context: CheckContext): Promise<void> {
  const { findings } = context;
  const past = await holdConversation(context);
  const reopened = past && (await reopenSession(context, "session/load", past.sessionId));
  if (past === undefined || reopened === undefined) return findings.notSeen(17, NO_CONVERSATION);
  const { outcome, updates } = reopened;
  const { transcriptBefore } = updates;
  if (outcome.kind !== "result") findings.fail(17, formatOutcome("session/load", outcome));
  else if (!transcriptBefore.user.includes(removeWhitespace(context.prompt)))
    findings.fail(17, formatMissing("the user's message", updates));
  else if (!transcriptBefore.agent.includes(past.transcript.lastOfAgent))
    findings.fail(17, formatMissing("the agent's message", updates));
  else if (updates.after !== undefined) findings.fail(17, `${updates.after} came after session/load was answered`);
  else findings.pass(17);
}

export async function checkResume(context: CheckContext): Promise<void> {
  const { findings } = context;
  const past = await holdConversation(context);
  const reopened = past && (await reopenSession(context, "session/resume", past.sessionId));
  if (reopened === undefined) return findings.notSeen(18, NO_CONVERSATION);
  const replayed = reopened.updates.before ?? reopened.updates.after;
  if (reopened.outcome.kind !== "result") findings.fail(18, formatOutcome("session/resume", reopened.outcome));
  else if (replayed !== undefined) findings.fail(18, `session/resume replayed ${replayed}`);
  else findings.pass(18);
}

const NO_CONVERSATION = "there was no conversation to reopen";

async function reopenSession(
  context: CheckContext,
  method: string,
  sessionId: string,
): Promise<{ outcome: RequestOutcome; updates: UpdatesAroundAnswer } | undefined> {
  await using agent = await openInitializedAgent(context);
  if (agent === undefined) return undefined;
  using updates = watchUpdates(agent.peer, method, sessionId);
  const outcome = await agent.peer.request(method, { sessionId, cwd: context.target.cwd, mcpServers: [] });
  await agent.peer.settle();
  return { outcome, updates };
}

function formatMissing(what: string, { after }: UpdatesAroundAnswer): string {
  return `${what} was not replayed before the answer${after === undefined ? "" : `, and ${after} came after it`}`;
}
