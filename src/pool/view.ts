/** Reads what the view of a task depends on, and builds the view that callers get. */
import { buildTaskView, listNeededTasks, type Store, type TaskState, type TaskView } from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import { formatWaitReason, type TaskQueue } from "./queue-reason.ts";

/** `readQueue`: called for a queued task, to say which limit holds it back. */
export async function toTaskView(
  store: Store,
  clock: Clock,
  state: TaskState,
  readQueue: () => Promise<TaskQueue>,
): Promise<TaskView> {
  const needed = await readById(listNeededTasks(state), (id) => store.task(id));
  const neededSessions = [...needed.values()].map((task) => task?.current?.sessionId).filter((id) => id !== undefined);
  const sessions = await readById([...state.sessions.map(({ id }) => id), ...neededSessions], (id) =>
    store.summary(id),
  );
  const view = buildTaskView(state, {
    findSession: (id) => sessions.get(id),
    findTask: (id) => needed.get(id),
    now: clock.now(),
  });
  const isExplained = view.message !== undefined && state.interruptedAt === undefined;
  const isReady = view.status === "queued" && !isExplained && view.notBefore === undefined;
  const reason = isReady ? formatWaitReason(state, await readQueue()) : undefined;
  return reason === undefined ? view : { ...view, message: reason };
}

async function readById<Item>(
  ids: readonly string[],
  read: (id: string) => Promise<Item | undefined>,
): Promise<ReadonlyMap<string, Item | undefined>> {
  return new Map(await Promise.all(ids.map(async (id) => [id, await read(id)] as const)));
}
