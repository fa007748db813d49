/** Calls `show` once for each event of a task after a position, including the last ones. */
import type { LoggedEvent, TaskService } from "./service.ts";

/** Disposing shows the remaining events of the log and stops. It rejects if reading or showing fails. */
export function watchTask(
  service: TaskService,
  { id, after }: { id: string; after: number },
  show: (logged: LoggedEvent) => Promise<void>,
): AsyncDisposable {
  const stop = new AbortController();
  let shown = after;
  const take = async (logged: LoggedEvent): Promise<void> => {
    await show(logged);
    shown = logged.position;
  };
  const follow = async (): Promise<void> => {
    for await (const logged of service.tasks.follow({ task: id, after, signal: stop.signal })) await take(logged);
  };
  const following = follow();
  following.catch(() => undefined); // disposing rejects with it

  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await following;
      for await (const logged of service.history(id, shown)) await take(logged);
    },
  };
}
