/** Formats one line for the server's log when a task starts, asks, ends, or is recovered. */
import type { LogEvent, Store } from "../../domain/task/store.ts";
import { formatLocalTime } from "../format.ts";
import { shortenPaths } from "../relative-paths.ts";
import { toSingleLine } from "../sanitize.ts";

const LINE_LENGTH = 300;

/** The session that an event belongs to. */
export interface LoggedSession {
  readonly task?: string | undefined;
  readonly cwd?: string | undefined;
}

/** Undefined for other events. `session`: for an event of a session. */
export function formatTaskLogLine(event: LogEvent, session?: LoggedSession): string | undefined {
  const id = "taskId" in event ? event.taskId : session?.task;
  const what = id === undefined ? undefined : describeTaskEvent(event, session?.cwd);
  if (what === undefined) return undefined;
  return toSingleLine(`${formatLocalTime(event.at)} task ${id ?? ""} ${what}`, LINE_LENGTH);
}

function describeTaskEvent(event: LogEvent, folder: string | undefined): string | undefined {
  switch (event.type) {
    case "task.created":
      return `was queued: ${event.spec.agent}, ${event.spec.title}`;
    case "task.started":
      return event.run === 1 ? "started" : `started again (run ${event.run})`;
    case "task.queued":
      if (event.why === "unavailable") return `cannot continue: ${event.message ?? "its agent is not available"}`;
      return event.why === "interrupted" ? "was recovered: its process is gone, so it runs again" : undefined;
    case "task.parked":
      return `waits until ${formatLocalTime(event.until)}: ${event.message}`;
    case "permission.requested":
      return `asks for a permission: ${shortenPaths(event.title, folder) || event.tool} (rookery inbox)`;
    case "question.asked":
      return `asks: ${event.message} (rookery inbox)`;
    case "task.ended":
      return `ended: ${event.outcome}${event.message === undefined ? "" : `: ${event.message}`}`;
    default: // the log of the task has the rest
      return undefined;
  }
}

/** Only these are parsed: a busy server has thousands of other events each second. */
const LOGGED_TYPES = /"type":"(?:task\.(?:created|started|queued|parked|ended)|permission\.requested|question\.asked)"/;

/** Calls `log` for each line until the signal aborts. Rejects with a `store_*` error. */
export async function logTaskEvents(
  store: Store,
  {
    after,
    signal,
    log,
  }: { readonly after: number; readonly signal: AbortSignal; readonly log: (line: string) => void },
): Promise<void> {
  for await (const page of store.followFeed({ after, signal })) {
    for (const { text } of page) {
      if (!LOGGED_TYPES.test(text)) continue;
      const event = JSON.parse(text) as LogEvent;
      const line = formatTaskLogLine(event, "taskId" in event ? undefined : await store.summary(event.sessionId));
      if (line !== undefined) log(line);
    }
  }
}
