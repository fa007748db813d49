/** The limit of a host: how many tasks all of its processes run at once. */
import { MAX_PAGE, type Busy, type Store, type TaskState } from "../domain/index.ts";

export interface HostLimit {
  readonly host: string | undefined;
  readonly maxRunning: number;
}

/**
 * Reads which running tasks are on other hosts. Returns a function that decides, from the running tasks of a claim, whether
 * this host is full. A task that started after the read counts as one of this host, so that two of its processes that
 * claim at the same time stay within the limit.
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
