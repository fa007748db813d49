/** Prompts for an agent at the start of a stage and after an interruption. */
import { RookeryError, type Stage, type TaskState } from "../../domain/index.ts";

type AgentStage = Extract<Stage, { kind: "agent" }>;

/** Longer feedback keeps only its end. */
const MAX_FEEDBACK_LENGTH = 20_000;

/**
 * Returns the prompt that starts a stage. If a later stage failed and sent the task back, the prompt contains the
 * reason. An agent that already knows the task gets only what the user said.
 */
export function stagePrompt(state: TaskState, stage: AgentStage, hasWorked: boolean): string {
  const { said, feedback = "" } = state;
  const isBack = hasWorked && feedback !== "" && state.mends === state.stage;
  if (said !== undefined && hasWorked && !isBack) return said;
  const isMending = isBack && stage.prompt?.includes("{feedback}") !== true;
  const words = isMending ? fixPrompt(feedback) : fillTemplate(state, stage);
  return said === undefined ? words : `${words}\n\n${said}`;
}

/** Returns the prompt for an agent whose turn was interrupted. It repeats the stage prompt, which may have been lost. */
export function resumePrompt(state: TaskState, stage: AgentStage, hadWorked: boolean): string {
  return (
    "You were interrupted before you finished. Check what is already done, do not repeat it, and finish the rest. " +
    `Your instructions were:\n\n${stagePrompt(state, stage, hadWorked)}`
  );
}

function fixPrompt(feedback: string): string {
  return `Your work did not pass a later stage. Its output:\n\n${feedback.slice(-MAX_FEEDBACK_LENGTH)}\n\nFix the problem and finish the task.`;
}

const PLACEHOLDER = /\{(prompt|feedback|base|task|branch|worktree|port)\}/g;

/** Throws `config_invalid` for `{port}` if the task has none. Other words in braces are part of the prompt. */
function fillTemplate({ id, spec, feedback = "", worktree }: TaskState, stage: AgentStage): string {
  const port = worktree?.port;
  const values: Record<string, string | undefined> = {
    prompt: spec.prompt,
    feedback: feedback.slice(-MAX_FEEDBACK_LENGTH),
    base: worktree?.baseCommit,
    task: id,
    branch: worktree?.branch,
    worktree: worktree?.path,
    port: port?.toString(),
  };
  if (port === undefined && stage.prompt?.includes("{port}") === true) {
    throw new RookeryError(
      "config_invalid",
      `the prompt of stage ${stage.name} uses {port}, but the task has no port: set port = true under [worktree]`,
    );
  }
  return (stage.prompt ?? "{prompt}").replaceAll(PLACEHOLDER, (_, name: string) => values[name] ?? "");
}
