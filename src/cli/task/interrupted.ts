/** Detects interrupted tasks: their log says that they run, but their process is gone. */
import type { TaskView } from "../../domain/task/view.ts";
import type { TaskService } from "./service.ts";

/** A task as it is listed. */
export interface ListedTask extends TaskView {
  readonly interrupted: boolean;
}

/** A server continues interrupted tasks when it starts, so its tasks are never interrupted. */
export async function markInterrupted<T extends TaskView>({ runner }: TaskService, task: T): Promise<T & ListedTask> {
  if (runner === undefined || !isActive(task) || !(await runner.isAbandoned(task.id))) {
    return { ...task, interrupted: false };
  }
  const now = Date.now();
  const idleMs = Math.max(0, now - ((await runner.lastEventAt(task.id)) ?? now));
  return { ...task, interrupted: true, ranMs: Math.max(0, task.ranMs - idleMs) }; // its clock stops with its process
}

export function isActive({ status }: Pick<TaskView, "status">): boolean {
  return status === "preparing" || status === "running" || status === "waiting";
}

/** True if the task waits for a process to run it. */
export async function hasNoRunner(service: TaskService, id: string): Promise<boolean> {
  const task = await service.tasks.show(id);
  return task.status === "queued" || (await markInterrupted(service, task)).interrupted;
}
