/** Checks that failed requests leave the agent usable and that it exits at the end of its input. */
import { getErrorCode, formatOutcome } from "../agent/outcome.ts";
import { openInitializedAgent, type CheckContext } from "../context.ts";
import { textBlock } from "../prompt-turn.ts";

const MAX_EXIT_WAIT_MS = 5_000;

export async function checkErrorRecovery(context: CheckContext): Promise<void> {
  const { findings, target, timeoutMs } = context;
  await using agent = await openInitializedAgent(context);
  if (agent === undefined) return;
  const { peer } = agent;
  const faults: string[] = [];
  const unknown = await peer.request("rookery/unknown", {});
  if (getErrorCode(unknown) !== -32601) faults.push(formatOutcome("the unknown method rookery/unknown", unknown));
  const failing = [
    ["session/new", {}],
    ["session/prompt", { sessionId: "rookery-never-made", prompt: [textBlock(context.prompt)] }],
  ] as const;
  for (const [method, params] of failing) await peer.request(method, params);
  const usable = await peer.request("session/new", { cwd: target.cwd, mcpServers: [] });
  // An authentication error is still an answer of a working agent.
  const answered = usable.kind === "result" || getErrorCode(usable) === -32000;
  if (!answered) faults.push(`after failed requests, ${formatOutcome("session/new", usable)}`);
  else if (!(await peer.close(Math.min(MAX_EXIT_WAIT_MS, timeoutMs))))
    faults.push("the agent kept running after the end of stdin");
  if (faults.length === 0) findings.pass(24);
  else findings.fail(24, faults.join("; "));
}
