/** Says what happens to the tasks after the person leaves the cockpit. */
import { formatCount } from "../../format.ts";
import { groupOfTask, type TaskGroup } from "../task-group.ts";
import type { CockpitState } from "./state.ts";

/** Empty if no task runs or waits. */
export function formatLeaving({
  tasks,
  server,
  localRuns,
}: Pick<CockpitState, "tasks" | "server" | "localRuns">): string {
  const count = (...groups: TaskGroup[]): number => tasks.filter((task) => groups.includes(groupOfTask(task))).length;
  const open = count("needs you", "working", "parked", "queued", "interrupted");
  if (server !== undefined)
    return open === 0 ? "" : `${describeCount(open)} ${open === 1 ? "stays" : "stay"} with the server at ${server}`;
  const waiting = tasks.filter(
    (task) => localRuns.has(task.id) || ["queued", "parked", "interrupted"].includes(groupOfTask(task)),
  );
  if (waiting.length === 0) return "";
  const [first] = waiting;
  const alone = waiting.length === 1 && first !== undefined ? `rookery task resume ${first.id}, or ` : "";
  return `${describeCount(waiting.length)} ${waiting.length === 1 ? "waits" : "wait"}; continue with: ${alone}rookery serve`;
}

function describeCount(count: number): string {
  return `${formatCount(count)} ${count === 1 ? "task" : "tasks"}`;
}
