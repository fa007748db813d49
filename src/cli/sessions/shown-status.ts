/** The statuses that lists show. Imports nothing else, because every start of the command loads it. */
import { SESSION_STATUSES, TASK_STATUSES } from "../../domain/enums.ts";

/** `interrupted`: the turn is not finished although no process drives the session. */
export const SHOWN_SESSION_STATUSES = [
  ...SESSION_STATUSES.filter((status) => status !== "copying"),
  "interrupted",
] as const;
export type ShownSessionStatus = (typeof SHOWN_SESSION_STATUSES)[number];

/** `interrupted`: the log says that the task runs, but its process is gone. */
export const SHOWN_TASK_STATUSES = [...TASK_STATUSES, "interrupted"] as const;
export type ShownTaskStatus = (typeof SHOWN_TASK_STATUSES)[number];
