/** One line about an event of a task. */
import type { TaskEvent } from "../../../src/domain/task/events.ts";

const MAX_LENGTH = 200;

export function describeTaskEvent(event: TaskEvent): string {
  const line = describe(event).replaceAll(/\s+/g, " ").trim();
  return line.length <= MAX_LENGTH ? line : `${line.slice(0, MAX_LENGTH - 1)}…`;
}

function describe(event: TaskEvent): string {
  switch (event.type) {
    case "task.created":
      return event.spec.title;
    case "task.queued":
      return [event.why, event.message, event.prompt].filter(Boolean).join(": ");
    case "task.started":
      return `run ${event.run}`;
    case "worktree.made":
      return `${event.branch} from ${event.base}`;
    case "worktree.ready":
      return event.setUp ? "setup done" : "";
    case "output.text":
      return `${event.from}: ${event.text}`;
    case "stage.started":
      return event.attempt > 1 ? `${event.name}, attempt ${event.attempt}` : event.name;
    case "stage.ended":
      return [`${event.name} ${event.passed ? "passed" : "did not pass"}`, event.message].filter(Boolean).join(": ");
    case "task.parked":
      return `until ${event.until}: ${event.message}`;
    case "task.stop_asked":
      return event.reason ?? "";
    case "task.ended":
      return [event.outcome, event.message].filter(Boolean).join(": ");
    case "merge.asked":
      return `${event.how} into ${event.into}`;
    case "merge.prepared":
    case "worktree.saved":
      return event.commit;
    case "merge.waiting":
      return event.message;
    case "merge.ended":
      return [event.outcome, event.commit, event.message, ...(event.conflicts ?? [])].filter(Boolean).join(" ");
    case "worktree.removed":
      return event.path;
    case "task.removed":
      return event.message ?? "";
    case "notice":
      return `${event.level}: ${event.message}`;
  }
}

/** Whether every word is somewhere in the event, in any case. */
export function matchesFilter(event: TaskEvent, filter: string): boolean {
  if (filter.trim() === "") return true;
  const text = JSON.stringify(event).toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
