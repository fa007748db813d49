/** Reads the open requests of a task with everything a person needs to decide. */
import type { TaskView } from "../../domain/task/view.ts";
import { type PendingRequest, toPendingRequest } from "../run/pending-request.ts";
import type { TaskService } from "./service.ts";
import { isTaskEvent } from "./messages.ts";

export interface TaskRequest {
  readonly taskId: string;
  readonly sessionId: string;
  readonly asked: PendingRequest;
}

export async function pendingTaskRequests(service: TaskService, task: TaskView): Promise<TaskRequest[]> {
  const open = new Set(task.waitingFor.map(taskRequestKey));
  const found: TaskRequest[] = [];
  if (open.size === 0) return found;
  for await (const { event } of service.history(task.id, 0)) {
    if (isTaskEvent(event)) continue;
    const asked = toPendingRequest(event, task.worktree?.path);
    if (asked === undefined || !open.delete(taskRequestKey({ ...asked, sessionId: event.sessionId }))) continue;
    found.push({ taskId: task.id, sessionId: event.sessionId, asked });
    if (open.size === 0) break;
  }
  return found;
}

/** Identifies a request among those of all sessions. */
export function taskRequestKey({ sessionId, requestId }: { sessionId: string; requestId: string }): string {
  return `${sessionId} ${requestId}`;
}
