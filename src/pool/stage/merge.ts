/** Runs a stage that merges the task's branch. */
import type { Stage } from "../../domain/index.ts";
import { commitRemainingChanges } from "../commit.ts";
import { mergeTask, resolveMergeTarget } from "../merge-task.ts";
import type { StagePosition, TaskRun, StageResult } from "./task-run.ts";

export async function runMergeStage(
  run: TaskRun,
  stage: Extract<Stage, { kind: "merge" }>,
  { index, attempt }: StagePosition,
): Promise<StageResult> {
  const { writer } = run;
  await writer.write({ type: "stage.started", stage: index, name: stage.name, attempt });
  await commitRemainingChanges(run);
  const into = await resolveMergeTarget(run, writer.state, stage.into);
  const { outcome, conflicts, message } = await mergeTask(run, { how: stage.how, into, gate: stage.gate });
  if (outcome === "merged" || outcome === "nothing") return { passed: true };
  const files = conflicts.length === 0 ? "" : ` in ${conflicts.join(", ")}`;
  return { passed: false, message: message ?? `the branch could not be merged into ${into}: ${outcome}${files}` };
}
