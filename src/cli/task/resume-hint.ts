/** Tells where the worktree of an ended task is, and how to continue the task. */
import type { TaskView } from "../../domain/task/view.ts";
import { toSingleLine } from "../sanitize.ts";

/** Two clauses joined by a semicolon; without the first one if the worktree was removed. */
export function formatResumeHint({ id, worktree }: TaskView): string {
  const kept = worktree === undefined || worktree.removed ? [] : [`worktree kept: ${toSingleLine(worktree.path)}`];
  return [...kept, `continue it with: rookery task resume ${id}`].join("; ");
}
