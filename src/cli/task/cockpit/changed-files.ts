/** Counts the changed files of tasks, one task at a time, because each count runs git. */
import { isEndedStatus } from "../../../domain/enums.ts";
import type { ListedTask } from "../interrupted.ts";
import type { TaskService } from "../service.ts";

/** How long the count of a running task is kept. */
const RECOUNT_MS = 5_000;
const MAX_COUNTED_TASKS = 50;

export class ChangedFiles {
  readonly #onCount: (counts: ReadonlyMap<string, number>) => void;
  readonly #counted = new Map<string, { readonly version: string; readonly at: number }>();
  #counts: ReadonlyMap<string, number> = new Map();
  #isCounting = false;

  constructor(onCount: (counts: ReadonlyMap<string, number>) => void) {
    this.#onCount = onCount;
  }

  /** Counts what has changed. Does nothing while a count is in progress. */
  update(tasks: readonly ListedTask[], service: TaskService, signal: AbortSignal): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    void this.#countAll(tasks, service, signal).finally(() => (this.#isCounting = false));
  }

  async #countAll(tasks: readonly ListedTask[], service: TaskService, signal: AbortSignal): Promise<void> {
    for (const task of tasks.slice(0, MAX_COUNTED_TASKS)) {
      if (signal.aborted) return;
      if (task.worktree === undefined || task.worktree.removed || !this.#isStale(task)) continue;
      try {
        const { files } = await service.tasks.diff(task.id, { patch: false });
        this.#counts = new Map(this.#counts).set(task.id, files.length);
        this.#onCount(this.#counts);
      } catch {
        // the worktree is being made or removed; the row shows no count
      }
      this.#counted.set(task.id, { version: versionOf(task), at: performance.now() });
    }
  }

  #isStale(task: ListedTask): boolean {
    const counted = this.#counted.get(task.id);
    if (counted === undefined || counted.version !== versionOf(task)) return true;
    return !isEndedStatus(task.status) && performance.now() - counted.at >= RECOUNT_MS;
  }
}

/** Changes when the files of an ended task may have changed. */
function versionOf({ status, runs, merge }: ListedTask): string {
  return `${status} ${runs} ${merge?.outcome ?? ""}`;
}
