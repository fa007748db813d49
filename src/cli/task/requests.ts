/** What a task waits for, with all that a person needs to decide. */
import type { TaskView } from "../../domain/task/view.ts";
import { type Asked, askedIn } from "../run/asked.ts";
import type { TaskDoor } from "./door.ts";
import { isTaskEvent } from "./words.ts";

export interface TaskRequest {
  readonly sessionId: string;
  readonly asked: Asked;
}

export async function openRequests(door: TaskDoor, task: TaskView): Promise<TaskRequest[]> {
  const open = new Set(task.waitingFor.map(keyOf));
  const found: TaskRequest[] = [];
  if (open.size === 0) return found;
  for await (const { event } of door.history(task.id, 0)) {
    if (isTaskEvent(event)) continue;
    const asked = askedIn(event);
    if (asked === undefined || !open.delete(keyOf({ ...asked, sessionId: event.sessionId }))) continue;
    found.push({ sessionId: event.sessionId, asked });
    if (open.size === 0) break;
  }
  return found;
}

function keyOf({ sessionId, requestId }: { sessionId: string; requestId: string }): string {
  return `${sessionId} ${requestId}`;
}
