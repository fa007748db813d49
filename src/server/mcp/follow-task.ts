/** Follows a task for a model: waits a bounded time, and returns the events that matter as short texts. */
import { isEndedStatus, RookeryError, type LogEvent, type TaskStatus } from "../../domain/index.ts";
import type { TaskServerOptions } from "./task-service.ts";

export interface FollowRequest {
  readonly id: string;
  /** The cursor of the last answer. Default: the start of the task. */
  readonly after?: number | undefined;
  readonly waitSeconds: number;
}

export interface FollowedTask {
  readonly events: readonly FollowedEvent[];
  readonly cursor: number;
  readonly status: TaskStatus;
  /** Whether there are more events already. */
  readonly more: boolean;
}

export interface FollowedEvent {
  readonly type: string;
  readonly session?: string;
  readonly text: string;
}

/** At most so many events, with texts of at most so many characters, are returned at once. */
const MAX_EVENTS = 100;
const MAX_TEXT = 2_000;
/** Events after which a model may want to act. They end the wait. */
const MILESTONES: ReadonlySet<string> = new Set([
  "permission.requested",
  "question.asked",
  "stage.ended",
  "task.parked",
  "task.ended",
  "merge.ended",
]);

/** Rejects with `task_not_found`. */
export async function followTask(
  { rookery }: Pick<TaskServerOptions, "rookery">,
  { id, after = 0, waitSeconds }: FollowRequest,
  signal: AbortSignal,
): Promise<FollowedTask> {
  const { head } = await rookery.store.readFeed({ after: 0, limit: 0 });
  if (after > head)
    throw new RookeryError("input_invalid", `there is no cursor ${after}: pass that of an earlier call`);
  const events: FollowedEvent[] = [];
  let cursor = after;
  const { status } = await rookery.tasks.show(id);
  const isOver = isEndedStatus(status);
  let milestone = false;
  const until = new AbortController();
  const end = (): void => until.abort();
  const timer = setTimeout(end, isOver ? 0 : waitSeconds * 1_000);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    cursor = await readPast();
    if (!milestone && events.length < MAX_EVENTS && !isOver && waitSeconds > 0) {
      for await (const { position, event } of rookery.tasks.follow({ task: id, after: cursor, signal: until.signal })) {
        cursor = position;
        add(event);
        if (milestone || events.length >= MAX_EVENTS) break;
      }
    }
  } catch (error) {
    if (!until.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
  const last = await rookery.store.readFeed({ task: id, after: cursor, limit: 1 });
  return { events, cursor, status: (await rookery.tasks.show(id)).status, more: last.events.length > 0 };

  function add(event: LogEvent): void {
    const text = describeEvent(event);
    if (text !== undefined) {
      events.push({
        type: event.type,
        ...("sessionId" in event && event.sessionId !== undefined && { session: event.sessionId }),
        text: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text,
      });
    }
    milestone ||= MILESTONES.has(event.type);
  }

  /** Reads what the log has already, and returns the position of the last event. */
  async function readPast(): Promise<number> {
    for (let at = cursor; ;) {
      const page = await rookery.store.readFeed({ task: id, after: at, limit: 500 });
      if (page.events.length === 0) return at;
      for (const { position, text } of page.events) {
        at = position;
        add(JSON.parse(text) as LogEvent);
        if (events.length >= MAX_EVENTS) return at;
      }
    }
  }
}

/** Returns undefined for events that say nothing to a model that follows a task, such as parts of a message. */
function describeEvent(event: LogEvent): string | undefined {
  switch (event.type) {
    case "message.completed":
      return event.text;
    case "tool.started":
      return event.title;
    case "tool.ended":
      return event.outcome === "ok" ? undefined : `${event.outcome}: ${event.text}`;
    case "permission.requested":
      return `${event.requestId} asks for permission: ${event.title}`;
    case "question.asked":
      return `${event.requestId} asks: ${event.message}`;
    case "permission.resolved":
    case "question.answered":
      return `${event.requestId} is answered`;
    case "turn.ended":
      return event.outcome.status === "failed" ? `failed: ${event.outcome.message}` : event.outcome.status;
    case "task.queued":
      return event.message ?? event.why;
    case "task.started":
      return `run ${event.run}`;
    case "stage.started":
      return `${event.name}, attempt ${event.attempt}`;
    case "stage.ended":
      return [`${event.name} ${event.passed ? "passed" : "did not pass"}`, event.message].filter(Boolean).join(": ");
    case "task.parked":
      return `until ${event.until}: ${event.message}`;
    case "task.ended":
      return [event.outcome, event.message].filter(Boolean).join(": ");
    case "merge.ended":
      return [event.outcome, event.message].filter(Boolean).join(": ");
    case "notice":
      return event.message;
    default:
      return undefined;
  }
}
