/** The tasks of `rookery serve`: on one machine, it runs them; with a shared database, it is also listed as a worker. */
import { waitForAbort } from "../../stdx/wait.ts";
import type { Rookery } from "../../rookery.ts";

export interface ServedTasksOptions {
  readonly version: string;
  /** False with `--no-tasks`. */
  readonly runsTasks: boolean;
  readonly signal: AbortSignal;
  readonly onProblem: (error: unknown) => void;
  /** Called when an operator drained the server. It keeps answering. */
  readonly onEnded: () => void;
}

/** Resolves when the signal aborts or an operator stops the server. */
export async function runServedTasks(rookery: Rookery, options: ServedTasksOptions): Promise<void> {
  const { version, runsTasks, signal, onProblem, onEnded } = options;
  if (rookery.sharedHost === undefined) {
    return runsTasks ? rookery.runTasks({ signal, onProblem }) : waitForAbort(signal);
  }
  const served = { kind: "serve" as const, version, signal, onProblem };
  const end = await rookery.runWorker({ ...served, ...(!runsTasks && { maxRunning: 0 }) });
  if (end !== "drained") return;
  onEnded();
  await waitForAbort(signal);
}
