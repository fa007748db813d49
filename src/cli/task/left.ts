/** Tasks that a dead process left: their log says that they run, and nobody runs them. */
import type { TaskView } from "../../domain/task/view.ts";
import type { TaskDoor } from "./door.ts";

/** What is shown of a task. */
export interface ShownTask extends TaskView {
  readonly left: boolean;
}

/** A server goes on with what was left as soon as it starts, so that it never has any. */
export async function withLeft<T extends TaskView>({ runner }: TaskDoor, task: T): Promise<T & ShownTask> {
  return { ...task, left: isHeld(task) && (await runner?.wasLeft(task.id)) === true };
}

export function isHeld({ status }: Pick<TaskView, "status">): boolean {
  return status === "preparing" || status === "running" || status === "waiting";
}

/** Does it go on as soon as someone runs it, and nobody does? */
export async function isAnybodys(door: TaskDoor, id: string): Promise<boolean> {
  const task = await door.tasks.show(id);
  return task.status === "queued" || (await withLeft(door, task)).left;
}
