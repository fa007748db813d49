/**
 * Derives the id of a child session. The same call always gives the same id, so the child is found again after a crash.
 */
import { createHash } from "node:crypto";
import { derivedId, timeOfId } from "../../domain/index.ts";
import type { SubagentTask } from "./task-input.ts";

export interface ChildKey {
  readonly sessionId: string;
  readonly turnId: string;
  readonly toolId: string;
  readonly index: number;
  /** Included because some providers reuse call ids. */
  readonly task: SubagentTask;
}

/** Has the timestamp of the turn, so children are listed after their parent. */
export function deriveChildId({ sessionId, turnId, toolId, index, task }: ChildKey): string {
  const seed = createHash("sha256")
    .update(JSON.stringify([sessionId, turnId, toolId, index, task]))
    .digest("hex");
  return derivedId("ses", timeOfId(turnId) ?? timeOfId(sessionId) ?? 0, seed);
}
