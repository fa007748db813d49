/** The task of the screen, as a context for its parts. */
import { createContext, useContext, type Accessor } from "solid-js";
import type { TaskView } from "../../../src/domain/task/view.ts";
import type { StageRun } from "./stages.ts";
import type { TaskLog } from "./task-log.ts";

export interface TaskValue {
  readonly id: string;
  readonly task: Accessor<TaskView>;
  readonly log: TaskLog;
  /** The runs of its stages, oldest first. */
  readonly runs: Accessor<readonly StageRun[]>;
  /** The time of the server in milliseconds since 1970. Changes every second while the task runs. */
  readonly now: Accessor<number>;
}

export const TaskContext = createContext<TaskValue>();

export function useTask(): TaskValue {
  const value = useContext(TaskContext);
  if (value === undefined) throw new Error("useTask needs a TaskContext above it");
  return value;
}
