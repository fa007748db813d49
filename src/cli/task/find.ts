/** Finds a task by id, by the start of an id, or by `last`. */
import { isRookeryError, RookeryError } from "../../domain/errors.ts";
import { TaskId } from "../../domain/task/spec.ts";
import type { ListTasks, Tasks, TaskView } from "../../domain/task/view.ts";
import { usageError } from "../exit.ts";
import type { Io } from "../io.ts";
import { toSingleLine } from "../sanitize.ts";

/** Stands for the newest task of the repository of this directory. */
export const LAST_TASK_ALIAS = "last";

/** How many candidates the message about an ambiguous id lists. */
const MAX_CANDIDATES = 5;

/** Rejects with `task_not_found`, or with `usage` if the name is ambiguous. */
export async function findTask(tasks: Tasks, named: string, io: Pick<Io, "cwd">): Promise<TaskView> {
  if (named === LAST_TASK_ALIAS) return findLastTask(tasks, io.cwd());
  const exact = TaskId.safeParse(named).success ? await findById(tasks, named) : undefined;
  if (exact !== undefined) return exact;
  const candidates = named === "" ? [] : await tasks.list({ idPrefix: named, limit: MAX_CANDIDATES + 1 });
  const [found, ...others] = candidates;
  if (found === undefined) {
    throw new RookeryError(
      "task_not_found",
      `no task ${toSingleLine(named, 60) || '""'}; list all tasks: rookery task list --all`,
    );
  }
  if (others.length === 0) return found;
  const many = others.length < MAX_CANDIDATES ? String(others.length + 1) : `more than ${MAX_CANDIDATES}`;
  const some = candidates.slice(0, MAX_CANDIDATES).map(({ id }) => id);
  throw usageError(
    `${many} tasks start with ${toSingleLine(named, 60)}: ${some.join(", ")}; type more characters of the id`,
  );
}

/**
 * Like `findTask`. Without a name, it is the newest task of the repository of this directory, or the only task. `command`
 * is suggested if neither exists.
 */
export async function findNamedOrNewestTask(
  tasks: Tasks,
  named: string | undefined,
  io: Pick<Io, "cwd">,
  command: string,
): Promise<TaskView> {
  if (named !== undefined) return findTask(tasks, named, io);
  const newest = await findNewestTask(tasks, io.cwd());
  if (newest !== undefined) return newest;
  const candidates = await tasks.list({ limit: MAX_CANDIDATES + 1 });
  const [only, ...others] = candidates;
  if (only === undefined) throw noTaskYet();
  if (others.length === 0) return only;
  const listed = candidates.slice(0, MAX_CANDIDATES).map(({ id }) => id);
  const more = candidates.length > MAX_CANDIDATES ? ", …" : "";
  throw usageError(
    `this directory has no task in its repository; name one: ${command} ${only.id} (or ${listed.slice(1).join(", ")}${more})`,
  );
}

async function findLastTask(tasks: Tasks, cwd: string): Promise<TaskView> {
  const newest = await findNewestTask(tasks, cwd);
  if (newest !== undefined) return newest;
  const [elsewhere] = await tasks.list({ limit: 1 });
  if (elsewhere === undefined) throw noTaskYet();
  const other = `${elsewhere.id} in ${toSingleLine(elsewhere.repository)}`;
  throw new RookeryError(
    "task_not_found",
    `${toSingleLine(cwd)} has no task in its repository; the newest elsewhere is ${other}`,
  );
}

/** Undefined if the repository of the directory has no task, or if there is no repository. */
async function findNewestTask(tasks: Tasks, cwd: string): Promise<TaskView | undefined> {
  const [newest] = await tasks.list({ cwd, limit: 1 }).catch((error: unknown) => {
    if (isRookeryError(error) && WITHOUT_REPOSITORY.has(error.code)) return [];
    throw error;
  });
  return newest;
}

function noTaskYet(): RookeryError {
  return new RookeryError("task_not_found", 'there is no task yet; start one: rookery task start "PROMPT"');
}

/** The directory has no repository that can have tasks, or is not on the server's machine. */
const WITHOUT_REPOSITORY: ReadonlySet<string> = new Set([
  "repository_missing",
  "repository_bare",
  "repository_empty",
  "cwd_missing",
  "not_trusted",
]);

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

async function findById(tasks: Tasks, id: string): Promise<TaskView | undefined> {
  try {
    return await tasks.show(id);
  } catch (error) {
    if (isRookeryError(error, "task_not_found")) return undefined;
    throw error;
  }
}
