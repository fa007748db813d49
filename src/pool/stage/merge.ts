/** A stage that brings the task's branch back. */
import type { Stage } from "../../domain/index.ts";
import { commitLeft } from "../commit.ts";
import { mergeTask, targetOf } from "../merging.ts";
import type { Place, Run, StageResult } from "./run.ts";

export async function mergeStage(
  run: Run,
  stage: Extract<Stage, { kind: "merge" }>,
  { index, attempt }: Place,
): Promise<StageResult> {
  const { pen, repository } = run;
  await pen.write({ type: "stage.started", stage: index, name: stage.name, attempt });
  await commitLeft(run);
  const into = await targetOf(repository, pen.state, stage.into);
  const { outcome, conflicts, message } = await mergeTask(run, { how: stage.how, into, gate: stage.gate });
  if (outcome === "merged" || outcome === "nothing") return { passed: true };
  const files = conflicts.length === 0 ? "" : ` in ${conflicts.join(", ")}`;
  return { passed: false, message: message ?? `the branch could not be merged into ${into}: ${outcome}${files}` };
}
