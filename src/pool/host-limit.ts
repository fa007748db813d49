/** The limit of a host: how many tasks all of its processes run at once. */
import { MAX_PAGE, type Busy, type Store, type TaskState } from "../domain/index.ts";

export interface HostLimit {
  readonly host: string | undefined;
  readonly maxRunning: number;
}

/**
 * Reads which hosts run tasks now. The result decides whether this host is full, for a claim that has other running tasks
 * perhaps: one that was not read counts as one of this host, so that two processes never exceed the limit.
 */
export async function readHostLimit(
  store: Store,
  { host, maxRunning }: HostLimit,
): Promise<(busy: readonly Busy[]) => boolean> {
  const elsewhere = new Set<string>();
  for (let before: string | undefined; ;) {
    const page: readonly TaskState[] = await store.tasks({ phases: ["preparing", "running"], limit: MAX_PAGE, before });
    for (const task of page) if (task.host !== host) elsewhere.add(task.id);
    if (page.length < MAX_PAGE) break;
    before = page.at(-1)?.id;
  }
  return (busy) => busy.filter(({ id }) => !elsewhere.has(id)).length >= maxRunning;
}
