/** Listing sessions. */
import { join } from "node:path";
import { outcomeText, resultOf } from "../agent/outcome.ts";
import { newSession, openAgent, type Scene } from "../scene.ts";

export async function list(scene: Scene): Promise<void> {
  const { findings, target } = scene;
  await using agent = await openAgent(scene);
  if (agent === undefined) return;
  await newSession(scene, agent);
  const all = await agent.peer.request("session/list", {});
  if (!Array.isArray(resultOf(all)?.["sessions"])) return findings.fail(19, outcomeText("session/list", all));
  const elsewhere = await agent.peer.request("session/list", { cwd: join(target.cwd, "rookery-never-made") });
  const found = resultOf(elsewhere)?.["sessions"];
  if (!Array.isArray(found)) return findings.fail(19, outcomeText("session/list", elsewhere));
  if (found.length > 0) return findings.fail(19, "session/list gave sessions for a folder that has none");
  findings.pass(19);
}
