/** Reads what the view of a task depends on, and builds the view that callers get. */
import { buildTaskView, listNeededTasks, type Store, type TaskState, type TaskView } from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";

export async function toTaskView(store: Store, clock: Clock, state: TaskState): Promise<TaskView> {
  const sessions = await readById(
    state.sessions.map(({ id }) => id),
    (id) => store.summary(id),
  );
  const needed = await readById(listNeededTasks(state), (id) => store.task(id));
  return buildTaskView(state, {
    findSession: (id) => sessions.get(id),
    findTask: (id) => needed.get(id),
    now: clock.now(),
  });
}

async function readById<Item>(
  ids: readonly string[],
  read: (id: string) => Promise<Item | undefined>,
): Promise<ReadonlyMap<string, Item | undefined>> {
  return new Map(await Promise.all(ids.map(async (id) => [id, await read(id)] as const)));
}
