/** Deletes a session. */
import { formatOutcome, getResultObject } from "../agent/outcome.ts";
import { isJsonObject, getObjectMember } from "../../../wire/json-object.ts";
import { holdConversation } from "../past-conversation.ts";
import { createCheckSession, openInitializedAgent, type InitializedAgent, type CheckContext } from "../context.ts";

/**
 * An agent may still write to an open session, so the check deletes one of an earlier process if the agent lists it.
 */
export async function checkDelete(
  context: CheckContext,
  { promptWorks }: { readonly promptWorks: boolean },
): Promise<void> {
  const { findings } = context;
  const past = promptWorks ? await holdConversation(context) : undefined;
  await using agent = await openInitializedAgent(context);
  if (agent === undefined) return;
  const kept = past !== undefined && (await isListed(context, agent, past.sessionId));
  const sessionId = kept ? past.sessionId : (await createCheckSession(context, agent))?.id;
  if (sessionId === undefined) return;
  const deleted = await agent.peer.request("session/delete", { sessionId });
  if (getResultObject(deleted) === undefined) return findings.fail(20, formatOutcome("session/delete", deleted));
  if (kept && (await isListed(context, agent, sessionId))) {
    return findings.fail(20, "session/list still returns a deleted session");
  }
  findings.pass(20);
}

async function isListed(
  { target }: CheckContext,
  { peer, capabilities }: InitializedAgent,
  wanted: string,
): Promise<boolean> {
  if (!isJsonObject(getObjectMember(capabilities, "sessionCapabilities")["list"])) return false;
  const listed = getResultObject(await peer.request("session/list", { cwd: target.cwd }))?.["sessions"];
  return Array.isArray(listed) && listed.filter(isJsonObject).some(({ sessionId }) => sessionId === wanted);
}
