/** Runs a stage that is a command. It passes if the command exits with code 0. */
import type { Stage } from "../../domain/index.ts";
import { runCommand } from "../../worktrees/index.ts";
import { commandEnvironment } from "../command-environment.ts";
import { openOutputRecorder } from "../output.ts";
import type { StagePosition, TaskRun, StageResult } from "./task-run.ts";

export async function runCommandStage(
  { parts, writer, repository, worktree, env, signal }: TaskRun,
  stage: Extract<Stage, { kind: "command" }>,
  { index, attempt }: StagePosition,
): Promise<StageResult> {
  await writer.write({ type: "stage.started", stage: index, name: stage.name, attempt });
  await using output = openOutputRecorder(writer, stage.name);
  const { exitCode, timedOut, tail } = await runCommand({
    command: stage.command,
    cwd: worktree.path,
    env: await commandEnvironment(parts, repository.root, env),
    marker: parts.claim(),
    timeoutMs: stage.timeout * 1000,
    onOutput: (text) => output.add(text),
    signal,
  });
  signal.throwIfAborted();
  if (exitCode === 0) return { passed: true };
  const exit = exitCode === null ? "was ended by a signal" : `exited with code ${exitCode}`;
  const how = timedOut ? `timed out after ${stage.timeout} s` : exit;
  return { passed: false, message: `\`${stage.command}\` ${how}:\n${tail}` };
}
