/** The tasks behind the task commands: those of a server, or those in the log of this machine. */
import type { LogEvent } from "../../domain/task/store.ts";
import type { StartTask, Tasks } from "../../domain/task/view.ts";
import type { Answer } from "../../session/method-types.ts";

export interface LoggedEvent {
  readonly position: number;
  readonly event: LogEvent;
}

export interface TaskService extends AsyncDisposable {
  readonly tasks: Tasks;
  /**
   * Chooses the agent of a task that is to start now, as `rookery run` does. Rejects with `agent_not_ready` before a task
   * is created that cannot run.
   */
  chooseAgent(request: StartTask): Promise<StartTask>;
  /** URL of the server. Undefined for the log of this machine. */
  readonly server: string | undefined;
  /** Undefined if a server runs the tasks. */
  readonly runner: TaskRunner | undefined;
  /** Returns the last position of the feed. */
  head(): Promise<number>;
  /** Yields the recorded events of a task and its sessions after a position. */
  history(task: string, after: number): AsyncIterable<LoggedEvent>;
  /** Returns the last message of the agent of a session, if it is near the end of its log. */
  lastMessage(sessionId: string): Promise<string | undefined>;
  /** Answers a request of a session, even if another process drives it. Rejects with `request_not_found`. */
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void>;
}

/** Runs tasks in this process. */
export interface TaskRunner {
  /**
   * Resolves when the task has ended or waits for other tasks. An abort of the signal queues it again. `onProblem`: called
   * with what does not end the run. Default: it is printed.
   */
  run(id: string, signal: AbortSignal, onProblem?: (error: unknown) => void): Promise<void>;
  /** True if the log says that the task runs, but its process is gone. */
  isAbandoned(id: string): Promise<boolean>;
  /** Whether a worker of any host, which runs tasks, is registered and alive. */
  hasWorkers(): Promise<boolean>;
  /** Returns when the task or its current session recorded something last, in milliseconds since the epoch. */
  lastEventAt(id: string): Promise<number | undefined>;
}
