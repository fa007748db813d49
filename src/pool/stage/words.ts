/** What an agent is told at the beginning of a stage, and when it goes on. */
import type { Stage, TaskState } from "../../domain/index.ts";

/** The feedback of a stage is at most this long: its end says most. */
const FEEDBACK_LENGTH = 20_000;

/** What it is to do; where it comes back to the stage, why. */
export function firstWords(state: TaskState, stage: Extract<Stage, { kind: "agent" }>, hasWorked: boolean): string {
  const { spec, said } = state;
  if (said !== undefined) return said;
  const feedback = (state.feedback ?? "").slice(-FEEDBACK_LENGTH);
  const isBack = hasWorked && feedback !== "" && (state.attempts[state.stage] ?? 0) > 1;
  if (isBack && stage.prompt?.includes("{feedback}") !== true) {
    return `It did not pass. This was said:\n\n${feedback}\n\nMend it, and finish the task.`;
  }
  const values: Record<string, string> = { prompt: spec.prompt, feedback, base: state.worktree?.baseCommit ?? "" };
  return (stage.prompt ?? "{prompt}").replaceAll(
    /\{(prompt|feedback|base)\}/g,
    (_, name: string) => values[name] ?? "",
  );
}

/** Its turn came to no end: the process died, or a person stopped it. It may be that it never heard what it was told. */
export function goOnWords({ said }: TaskState, first: string): string {
  if (said !== undefined) return said;
  return (
    "You were interrupted before you were done. Look at what is there already, do not do again what is done, and " +
    `finish. This is what you were told:\n\n${first}`
  );
}
