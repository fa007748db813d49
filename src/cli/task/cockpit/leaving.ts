/** Says what happens to the tasks after the person leaves the cockpit. */
import { formatCount } from "../../format.ts";
import type { ListedTask } from "../interrupted.ts";
import { groupOfTask, type TaskGroup } from "./state.ts";

/** Empty if no task runs or waits. */
export function formatLeaving(tasks: readonly ListedTask[], server: string | undefined): string {
  const count = (...groups: TaskGroup[]): number => tasks.filter((task) => groups.includes(groupOfTask(task))).length;
  const open = count("needs you", "working", "parked", "queued", "interrupted");
  if (server !== undefined)
    return open === 0 ? "" : `${describeCount(open)} ${open === 1 ? "stays" : "stay"} with the server at ${server}`;
  const waiting = count("queued", "parked", "interrupted");
  if (waiting === 0) return "";
  return `${describeCount(waiting)} ${waiting === 1 ? "waits" : "wait"} for a server: rookery serve`;
}

function describeCount(count: number): string {
  return `${formatCount(count)} ${count === 1 ? "task" : "tasks"}`;
}
