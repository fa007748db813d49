/** Lists sessions. */
import { join } from "node:path";
import { formatOutcome, getResultObject } from "../agent/outcome.ts";
import { createCheckSession, openInitializedAgent, type CheckContext } from "../context.ts";

export async function checkList(context: CheckContext): Promise<void> {
  const { findings, target } = context;
  await using agent = await openInitializedAgent(context);
  if (agent === undefined) return;
  await createCheckSession(context, agent);
  const all = await agent.peer.request("session/list", {});
  if (!Array.isArray(getResultObject(all)?.["sessions"])) return findings.fail(19, formatOutcome("session/list", all));
  const elsewhere = await agent.peer.request("session/list", { cwd: join(target.cwd, "rookery-never-made") });
  const found = getResultObject(elsewhere)?.["sessions"];
  if (!Array.isArray(found)) return findings.fail(19, formatOutcome("session/list", elsewhere));
  if (found.length > 0) return findings.fail(19, "session/list returned sessions for a directory that has none");
  findings.pass(19);
}
