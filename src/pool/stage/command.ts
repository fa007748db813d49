/** A stage that is a command: it passes if that ends well. */
import type { Stage } from "../../domain/index.ts";
import { runCommand } from "../../worktrees/index.ts";
import { commandEnvironment } from "../command-environment.ts";
import { outputTo } from "../output.ts";
import type { Place, Run, StageResult } from "./run.ts";

export async function commandStage(
  { parts, pen, worktree, env, signal }: Run,
  stage: Extract<Stage, { kind: "command" }>,
  { index, attempt }: Place,
): Promise<StageResult> {
  await pen.write({ type: "stage.started", stage: index, name: stage.name, attempt });
  await using output = outputTo(pen, stage.name);
  const { exitCode, timedOut, tail } = await runCommand({
    command: stage.command,
    cwd: worktree.path,
    env: await commandEnvironment(parts, pen.state.spec.repository, env),
    marker: parts.claim(),
    timeoutMs: stage.timeout * 1000,
    onOutput: (text) => output.add(text),
    signal,
  });
  signal.throwIfAborted();
  if (exitCode === 0) return { passed: true };
  const how = timedOut ? `did not end within ${stage.timeout} s` : `ended with ${exitCode ?? "a signal"}`;
  return { passed: false, message: `\`${stage.command}\` ${how}:\n${tail}` };
}
