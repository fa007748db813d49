/** Handles keys while a permission request of a task is open. */
import type { TaskRequest } from "../requests.ts";

export interface TaskDecideMode {
  readonly type: "decide";
  readonly request: TaskRequest;
  /** True if the request was printed to the scrollback, because it does not fit the screen. */
  readonly isPrinted: boolean;
  /** Whether the person has pressed `a` once. Default: false. */
  readonly isAlwaysAsked?: boolean;
}

export interface TaskReasonMode extends Pick<TaskDecideMode, "request" | "isPrinted"> {
  readonly type: "reason";
  /** Whether the text is another command, not a reason. */
  readonly isCommand: boolean;
}
