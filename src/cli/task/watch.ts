/** Shows each event of a task once, from a position on, also those that come with its end. */
import type { LoggedEvent, TaskService } from "./service.ts";

/** Disposing shows what the log has by then, and stops. It rejects where the log cannot be read, or showing fails. */
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
  following.catch(() => undefined); // told to whoever disposes

  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await following;
      for await (const logged of service.history(id, shown)) await take(logged);
    },
  };
}
