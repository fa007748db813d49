/** What an agent is left like by requests that fail, and by the end of its input. */
import { errorCode, outcomeText } from "../agent/outcome.ts";
import { openAgent, type Scene } from "../scene.ts";
import { text } from "../turn.ts";

const PATIENCE_MS = 5_000;

export async function errors(scene: Scene): Promise<void> {
  const { findings, target, timeoutMs } = scene;
  await using agent = await openAgent(scene);
  if (agent === undefined) return;
  const { peer } = agent;
  const faults: string[] = [];
  const unknown = await peer.request("rookery/unknown", {});
  if (errorCode(unknown) !== -32601) faults.push(outcomeText("the unknown method rookery/unknown", unknown));
  const failing = [
    ["session/new", {}],
    ["session/prompt", { sessionId: "rookery-never-made", prompt: [text(scene.prompt)] }],
  ] as const;
  for (const [method, params] of failing) await peer.request(method, params);
  const usable = await peer.request("session/new", { cwd: target.cwd, mcpServers: [] });
  // Refused for want of authentication is still an answer of an agent that works.
  const answered = usable.kind === "result" || errorCode(usable) === -32000;
  if (!answered) faults.push(`after requests that failed, ${outcomeText("session/new", usable)}`);
  else if (!(await peer.close(Math.min(PATIENCE_MS, timeoutMs)))) faults.push("it went on after the end of stdin");
  if (faults.length === 0) findings.pass(24);
  else findings.fail(24, faults.join("; "));
}
