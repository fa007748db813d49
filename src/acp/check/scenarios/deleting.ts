/** Deleting a session. */
import { outcomeText, resultOf } from "../agent/outcome.ts";
import { isObject, members } from "../object.ts";
import { converse } from "../past.ts";
import { newSession, openAgent, type Agent, type Scene } from "../scene.ts";

/** An agent may still write to what it has open, so one of an earlier process is deleted where they are kept. */
export async function deleting(scene: Scene, { promptWorks }: { readonly promptWorks: boolean }): Promise<void> {
  const { findings } = scene;
  const past = promptWorks ? await converse(scene) : undefined;
  await using agent = await openAgent(scene);
  if (agent === undefined) return;
  const kept = past !== undefined && (await lists(scene, agent, past.sessionId));
  const sessionId = kept ? past.sessionId : (await newSession(scene, agent))?.id;
  if (sessionId === undefined) return;
  const deleted = await agent.peer.request("session/delete", { sessionId });
  if (resultOf(deleted) === undefined) return findings.fail(20, outcomeText("session/delete", deleted));
  if (kept && (await lists(scene, agent, sessionId))) {
    return findings.fail(20, "session/list still gives a session that was deleted");
  }
  findings.pass(20);
}

async function lists({ target }: Scene, { peer, capabilities }: Agent, wanted: string): Promise<boolean> {
  if (!isObject(members(capabilities, "sessionCapabilities")["list"])) return false;
  const listed = resultOf(await peer.request("session/list", { cwd: target.cwd }))?.["sessions"];
  return Array.isArray(listed) && listed.filter(isObject).some(({ sessionId }) => sessionId === wanted);
}
