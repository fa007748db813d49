/** The reasons for which a run ends before its last stage does. */
import { isRookeryError, isStoreErrorCode, type TaskEventBody } from "../domain/index.ts";

/** Thrown inside a run to end it. The run records `event`. */
export class RunEnd extends Error {
  readonly event: TaskEventBody;

  constructor(event: TaskEventBody) {
    super(event.type);
    this.name = "RunEnded";
    this.event = event;
  }
}

export function runStopped(message: string, code?: string): RunEnd {
  return new RunEnd({ type: "task.ended", outcome: "stopped", message, ...(code !== undefined && { code }) });
}

export function runFailed(code: string, message: string): RunEnd {
  return new RunEnd({ type: "task.ended", outcome: "failed", code, message });
}

/** The process that runs the task ends. The task is queued again for another process. */
export function runInterrupted(message = "the process that ran the task ended"): RunEnd {
  return new RunEnd({ type: "task.queued", why: "interrupted", message });
}

/**
 * This process cannot continue a task: it lacks the agent of a turn that another process started, or cannot reach the
 * remote. That work must not be lost.
 */
export function runUnavailable(message: string): RunEnd {
  return new RunEnd({ type: "task.queued", why: "unavailable", message });
}

export function runParked(until: string, message: string): RunEnd {
  return new RunEnd({ type: "task.parked", until, message });
}

/** True if this process cannot write the log, so that it cannot record how the run ended. */
export function isLogFailure(error: unknown): boolean {
  return isRookeryError(error) && (error.code === "lease_lost" || isStoreErrorCode(error.code));
}
