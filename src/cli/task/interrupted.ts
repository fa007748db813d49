/** Tasks that a dead process left: their log says that they run, and nobody runs them. */
import type { TaskView } from "../../domain/task/view.ts";
import type { TaskService } from "./service.ts";

/** What is shown of a task. */
export interface ListedTask extends TaskView {
  readonly interrupted: boolean;
}

/** A server goes on with what was left as soon as it starts, so that it never has any. */
export async function markInterrupted<T extends TaskView>({ runner }: TaskService, task: T): Promise<T & ListedTask> {
  return { ...task, interrupted: isActive(task) && (await runner?.isAbandoned(task.id)) === true };
}

export function isActive({ status }: Pick<TaskView, "status">): boolean {
  return status === "preparing" || status === "running" || status === "waiting";
}

/** Does it go on as soon as someone runs it, and nobody does? */
export async function hasNoRunner(service: TaskService, id: string): Promise<boolean> {
  const task = await service.tasks.show(id);
  return task.status === "queued" || (await markInterrupted(service, task)).interrupted;
}
