/** The id of a child's session: the same for the same call, so that it is found again after a crash. */
import { createHash } from "node:crypto";
import { derivedId, timeOfId } from "../../domain/index.ts";
import type { Task } from "./input.ts";

export interface Place {
  readonly sessionId: string;
  readonly turnId: string;
  readonly toolId: string;
  readonly index: number;
  /** Some providers use the ids of calls again. */
  readonly task: Task;
}

/** Later than its parent's, and of the time of the turn: so it is listed there. */
export function childIdOf({ sessionId, turnId, toolId, index, task }: Place): string {
  const seed = createHash("sha256")
    .update(JSON.stringify([sessionId, turnId, toolId, index, task]))
    .digest("hex");
  return derivedId("ses", timeOfId(turnId) ?? timeOfId(sessionId) ?? 0, seed);
}
