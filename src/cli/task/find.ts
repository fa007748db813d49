/** Finds a task by id, by a prefix of an id, or by `last`. */
import { isRookeryError, RookeryError } from "../../domain/errors.ts";
import { TaskId } from "../../domain/task/spec.ts";
import type { ListTasks, Tasks, TaskView } from "../../domain/task/view.ts";
import { usageError } from "../exit.ts";
import { toSingleLine } from "../sanitize.ts";

/** Stands for the newest task. */
export const LAST_TASK_ALIAS = "last";

/** Rejects with `task_not_found`, or with `usage` if the prefix is ambiguous. */
export async function findTask(tasks: Tasks, named: string): Promise<TaskView> {
  if (named === LAST_TASK_ALIAS) {
    const [newest] = await tasks.list({ limit: 1 });
    if (newest !== undefined) return newest;
    throw new RookeryError("task_not_found", 'there is no task yet; start one: rookery task start "PROMPT"');
  }
  const exact = TaskId.safeParse(named).success ? await findById(tasks, named) : undefined;
  if (exact !== undefined) return exact;
  const [found, ...others] = named === "" ? [] : await tasksWithPrefix(tasks, named);
  if (found === undefined) {
    throw new RookeryError(
      "task_not_found",
      `no task ${toSingleLine(named, 60) || '""'}; list all tasks: rookery task list --all`,
    );
  }
  if (others.length === 0) return found;
  const some = [found, ...others].slice(0, 3).map(({ id }) => id);
  throw usageError(
    `${others.length + 1} tasks start with ${named}: ${some.join(", ")}; type more characters of the id`,
  );
}

/** Yields all tasks, newest first. */
export async function* allTasks(tasks: Tasks, query: ListTasks = {}): AsyncIterable<TaskView> {
  for (let before: string | undefined; ;) {
    const page = await tasks.list({ ...query, before, limit: TASK_PAGE_SIZE });
    yield* page;
    before = page.at(-1)?.id;
    if (before === undefined) return;
  }
}

const TASK_PAGE_SIZE = 200;

async function tasksWithPrefix(tasks: Tasks, prefix: string): Promise<TaskView[]> {
  const found: TaskView[] = [];
  for await (const task of allTasks(tasks)) if (task.id.startsWith(prefix)) found.push(task);
  return found;
}

async function findById(tasks: Tasks, id: string): Promise<TaskView | undefined> {
  try {
    return await tasks.show(id);
  } catch (error) {
    if (isRookeryError(error, "task_not_found")) return undefined;
    throw error;
  }
}
