/** Why a run comes to its end before its last stage does. */
import { isRookeryError, isStoreErrorCode, type TaskEventBody } from "../domain/index.ts";

/** Thrown through a run to its end, where what it says is written down. */
export class RunEnded extends Error {
  readonly event: TaskEventBody;

  constructor(event: TaskEventBody) {
    super(event.type);
    this.name = "RunEnded";
    this.event = event;
  }
}

export function stopped(message: string, code?: string): RunEnded {
  return new RunEnded({ type: "task.ended", outcome: "stopped", message, ...(code !== undefined && { code }) });
}

export function failed(code: string, message: string): RunEnded {
  return new RunEnded({ type: "task.ended", outcome: "failed", code, message });
}

/** The process that runs it is going away; another, or the next, goes on. */
export function interrupted(message = "the process that ran it was ended"): RunEnded {
  return new RunEnded({ type: "task.queued", why: "interrupted", message });
}

export function parked(until: string, message: string): RunEnded {
  return new RunEnded({ type: "task.parked", until, message });
}

/** The log cannot be written, at least not by us: nothing can be said of what happened then. */
export function isLogFailure(error: unknown): boolean {
  return isRookeryError(error) && (error.code === "lease_lost" || isStoreErrorCode(error.code));
}
