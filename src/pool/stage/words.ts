/** What an agent is told at the beginning of a stage, and when it goes on. */
import type { Stage, TaskState } from "../../domain/index.ts";

type AgentStage = Extract<Stage, { kind: "agent" }>;

/** The feedback of a stage is at most this long: its end says most. */
const FEEDBACK_LENGTH = 20_000;

/** What it is to do; where it was gone back to, why. What a person says is enough for one that knows the rest. */
export function firstWords(state: TaskState, stage: AgentStage, hasWorked: boolean): string {
  const { said, feedback = "" } = state;
  const isBack = hasWorked && feedback !== "" && state.mends === state.stage;
  if (said !== undefined && hasWorked && !isBack) return said;
  const isMending = isBack && stage.prompt?.includes("{feedback}") !== true;
  const words = isMending ? mendWords(feedback) : filledIn(state, stage);
  return said === undefined ? words : `${words}\n\n${said}`;
}

/** Its turn came to no end: the process died, or a person stopped it. It may be that it never heard what it was told. */
export function goOnWords(state: TaskState, stage: AgentStage, hadWorked: boolean): string {
  return (
    "You were interrupted before you were done. Look at what is there already, do not do again what is done, and " +
    `finish it. This is what you were to do:\n\n${firstWords(state, stage, hadWorked)}`
  );
}

function mendWords(feedback: string): string {
  return `It did not pass. This was said:\n\n${feedback.slice(-FEEDBACK_LENGTH)}\n\nMend it, and finish the task.`;
}

function filledIn({ spec, feedback = "", worktree }: TaskState, stage: AgentStage): string {
  const values: Record<string, string> = {
    prompt: spec.prompt,
    feedback: feedback.slice(-FEEDBACK_LENGTH),
    base: worktree?.baseCommit ?? "",
  };
  return (stage.prompt ?? "{prompt}").replaceAll(
    /\{(prompt|feedback|base)\}/g,
    (_, name: string) => values[name] ?? "",
  );
}
