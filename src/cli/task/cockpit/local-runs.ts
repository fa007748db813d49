/** Runs tasks in the process of the cockpit while no server does. A task that is left is queued again. */
import type { TaskService } from "../service.ts";

export interface LocalRunsOptions {
  /** Opens the tasks of this machine. Called at the first run. */
  readonly open: () => Promise<TaskService>;
  /** Called when a run has started or ended. */
  readonly onChange: (running: ReadonlySet<string>) => void;
  readonly onProblem: (error: unknown) => void;
}

export class LocalTaskRuns implements AsyncDisposable {
  readonly #options: LocalRunsOptions;
  readonly #stop = new AbortController();
  readonly #runs = new Map<string, Promise<void>>();
  #service: Promise<TaskService> | undefined;

  constructor(options: LocalRunsOptions) {
    this.#options = options;
  }

  /** Runs the task until it ends or has to wait for something. Does nothing if it runs here already. */
  start(id: string): void {
    if (this.#runs.has(id) || this.#stop.signal.aborted) return;
    const run = this.#run(id)
      .catch(this.#options.onProblem)
      .finally(() => {
        this.#runs.delete(id);
        this.#report();
      });
    this.#runs.set(id, run);
    this.#report();
  }

  /** Interrupts the runs, which leaves their worktrees and sessions as they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#runs.values());
    await (await this.#service?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }

  async #run(id: string): Promise<void> {
    this.#service ??= this.#options.open();
    const { runner } = await this.#service;
    await runner?.run(id, this.#stop.signal, this.#options.onProblem);
  }

  #report(): void {
    this.#options.onChange(new Set(this.#runs.keys()));
  }
}
