/** The events of a task without those of its sessions: pages of the server, then new events from the feed. */
import { createMemo, createSignal, onCleanup, type Accessor } from "solid-js";
import type { TaskEvent } from "../../../src/domain/task/events.ts";
import { applyTask, type TaskState } from "../../../src/domain/task/state.ts";
import { readWhenConnected } from "../feed/read-when-connected.ts";
import { dataOf, messageOf } from "../request.ts";
import type { ServerValue } from "../server.tsx";
import { TaskEventList } from "./task-event-list.ts";

export interface TaskLog {
  readonly events: Accessor<readonly TaskEvent[]>;
  /** Undefined until the first event has arrived. */
  readonly state: Accessor<TaskState | undefined>;
  readonly isLoaded: Accessor<boolean>;
  /** Why the events could not be read. It tries again when the page connects again. */
  readonly error: Accessor<string | undefined>;
}

const PAGE = 5_000;

export function openTaskLog({ client, feed }: Pick<ServerValue, "client" | "feed">, id: string): TaskLog {
  const [events, setEvents] = createSignal<readonly TaskEvent[]>([]);
  const [isLoaded, setLoaded] = createSignal(false);
  const [error, setError] = createSignal<string>();
  const isOwn = (event: { readonly taskId?: string }): boolean => event.taskId === id;
  let list = new TaskEventList();
  let frame: number | undefined;
  const show = (): void => {
    frame = undefined;
    setEvents(list.events());
  };
  const showSoon = (): void => void (frame ??= requestAnimationFrame(show));

  const load = async (): Promise<void> => {
    const own = new TaskEventList();
    list = own; // events of the feed wait until the pages have arrived
    try {
      for (let after = 0, head = 1; after < head && own === list;) {
        const query = { after, limit: PAGE };
        const page = await dataOf(client.GET("/v1/tasks/{id}/log", { params: { path: { id }, query } }));
        own.addPage(page.events);
        head = page.events.length === 0 ? 0 : page.head;
        after = page.events.at(-1)?.seq ?? head;
      }
      if (own !== list) return;
      own.start();
      setError(undefined);
      show();
      setLoaded(true);
    } catch (cause) {
      if (own === list) setError(messageOf(cause));
    }
  };
  onCleanup(
    feed.listen((followed) => {
      const own = followed.map(({ event }) => event as TaskEvent).filter(isOwn);
      if (own.length === 0) return;
      list.add(own);
      if (list.isStarted) showSoon();
    }),
  );
  readWhenConnected(feed, { read: () => void load(), hasFailed: () => error() !== undefined });
  onCleanup(() => {
    list = new TaskEventList();
    if (frame !== undefined) cancelAnimationFrame(frame);
  });
  const state = createMemo(() => events().reduce<TaskState | undefined>(applyTask, undefined));
  return { events, state, isLoaded, error };
}
