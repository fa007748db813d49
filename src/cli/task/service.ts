/** What the commands of tasks have behind them: a server, or the log of this machine. */
import type { LogEvent } from "../../domain/task/store.ts";
import type { Tasks } from "../../domain/task/view.ts";
import type { Answer } from "../../session/method-types.ts";

export interface LoggedEvent {
  readonly position: number;
  readonly event: LogEvent;
}

export interface TaskService extends AsyncDisposable {
  readonly tasks: Tasks;
  /** The address of the server that has them. */
  readonly server: string | undefined;
  /** Undefined where a server runs them. */
  readonly runner: TaskRunner | undefined;
  /** The last position of the feed. */
  head(): Promise<number>;
  /** What the logs of a task and its sessions have now after a position. */
  history(task: string, after: number): AsyncIterable<LoggedEvent>;
}

/** Tasks that are run by this process. */
export interface TaskRunner {
  /** Resolves when the task has ended, or waits for others. */
  run(id: string, signal: AbortSignal): Promise<void>;
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void>;
  /** Does no living process have this task, which runs as far as its log says? */
  isAbandoned(id: string): Promise<boolean>;
}
