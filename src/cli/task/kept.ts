/** Where what a task did is kept, and how it goes on. */
import type { TaskView } from "../../domain/task/view.ts";
import { toSingleLine } from "../sanitize.ts";

export function keptWords({ id, worktree }: TaskView): string {
  const kept = worktree === undefined || worktree.removed ? "" : `; its worktree stays: ${toSingleLine(worktree.path)}`;
  return `${id}${kept}; go on: rookery task resume ${id}`;
}
