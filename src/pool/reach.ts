/** Whether the files of a task are on this host. */
import { RookeryError, type TaskState } from "../domain/index.ts";

/** True if this process can open the repository. `host`: the ID of this host, if several hosts share the store. */
export function isReachableTask({ spec }: Pick<TaskState, "spec">, host: string | undefined): boolean {
  return host === undefined || spec.host === undefined || spec.host === host || spec.remote !== undefined;
}

/** Throws `other_host` if the repository of the task is on another host only. */
export function requireReachable(state: TaskState, host: string | undefined): void {
  if (isReachableTask(state, host)) return;
  const { id, spec } = state;
  const where = `the repository of task ${id} has no remote and is on host ${spec.host ?? "unknown"}`;
  throw new RookeryError("other_host", `${where}, not on this host (${host ?? "unknown"}): run this command there`);
}
