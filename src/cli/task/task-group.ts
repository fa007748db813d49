/** The groups of a list of tasks: what a person has to do about a task, with the mark and the color of each group. */
import type { Color } from "../paint.ts";
import { isActive, type ListedTask } from "./interrupted.ts";

/** Tasks that need a person come first, then tasks that do something, then tasks that wait, then ended ones. */
const GROUPS = [
  "needs you",
  "working",
  "interrupted",
  "parked",
  "queued",
  "done",
  "failed",
  "stopped",
  "merged",
] as const;
export type TaskGroup = (typeof GROUPS)[number];

/** The mark and the color of each group. */
export const GROUP_STYLES: Record<TaskGroup, { readonly mark: string; readonly color: Color }> = {
  "needs you": { mark: "?", color: "yellow" },
  working: { mark: "●", color: "cyan" },
  interrupted: { mark: "!", color: "red" },
  parked: { mark: "‖", color: "yellow" },
  queued: { mark: "○", color: "dim" },
  done: { mark: "✓", color: "green" },
  failed: { mark: "✗", color: "red" },
  stopped: { mark: "⊘", color: "red" },
  merged: { mark: "✓", color: "dim" },
};

export function groupOfTask(task: ListedTask): TaskGroup {
  if (task.interrupted) return "interrupted";
  if (task.status === "waiting") return "needs you";
  const merges = task.merge !== undefined && task.merge.outcome === undefined;
  if (isActive(task) || merges) return "working";
  if (task.status === "done" && task.merge?.outcome === "merged") return "merged";
  return task.status as TaskGroup;
}

export function countGroups(tasks: readonly ListedTask[]): readonly (readonly [TaskGroup, number])[] {
  return GROUPS.map((group) => [group, tasks.filter((task) => groupOfTask(task) === group).length] as const).filter(
    ([, count]) => count > 0,
  );
}

export function sortByGroup<Task extends ListedTask>(tasks: readonly Task[]): Task[] {
  return GROUPS.flatMap((group) => tasks.filter((task) => groupOfTask(task) === group));
}
