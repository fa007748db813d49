/** Shows the events of a task and its sessions after a position. */
import { watchEvents } from "../watch-events.ts";
import type { LoggedEvent, TaskService } from "./service.ts";

export function watchTask(
  service: TaskService,
  { id, after }: { id: string; after: number },
  show: (logged: LoggedEvent) => Promise<void>,
): AsyncDisposable {
  return watchEvents<LoggedEvent>({
    after,
    position: (logged) => logged.position,
    follow: (signal) => service.tasks.follow({ task: id, after, signal }),
    read: (from) => service.history(id, from),
    show,
  });
}
