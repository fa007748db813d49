/** Describes events of the feed as text for people. */
import type { SessionEvent } from "../../../src/domain/events.ts";
import type { MergeOutcome, TaskEvent, TaskOutcome } from "../../../src/domain/task/events.ts";
import type { Route } from "../routes.ts";

export interface ActivityEntry {
  /** The position in the feed. */
  readonly position: number;
  readonly at: string;
  readonly type: string;
  readonly text: string;
  readonly tone: "good" | "bad" | "warn" | "muted" | undefined;
  readonly route: Extract<Route, { screen: "task" | "session" }>;
  /** Who did it. Undefined for the task itself. */
  readonly agent: string | undefined;
}

/** Undefined for events that are steps of something else, such as a part of a message. */
export function describeEvent(position: number, event: SessionEvent | TaskEvent): ActivityEntry | undefined {
  const described = "taskId" in event ? describeTaskEvent(event) : describeSessionEvent(event);
  if (described === undefined) return undefined;
  const [text, tone] = described;
  const [agent, route]: readonly [string | undefined, ActivityEntry["route"]] =
    "taskId" in event
      ? [undefined, { screen: "task", id: event.taskId, tab: "conversation" }]
      : [event.agent, { screen: "session", id: event.sessionId }];
  return { position, at: event.at, type: event.type, text, tone, route, agent };
}

type Described = readonly [string, ActivityEntry["tone"]?] | undefined;

function describeTaskEvent(event: TaskEvent): Described {
  switch (event.type) {
    case "task.created":
      return ["was created"];
    case "task.started":
      return [event.run === 1 ? "started" : `started run ${event.run}`];
    case "task.queued":
      return [`was queued again (${event.why})`];
    case "stage.started":
      return [`began the stage ${event.name}`, "muted"];
    case "stage.ended":
      return [`${event.passed ? "passed" : "failed"} the stage ${event.name}`, event.passed ? "muted" : "bad"];
    case "task.parked":
      return [`is parked: ${event.message}`, "warn"];
    case "task.ended":
      return describeEnd(event.outcome, event.message);
    case "merge.waiting":
      return [`cannot be merged yet: ${event.message}`, "warn"];
    case "merge.ended":
      return describeMerge(event.outcome, event.message);
    case "task.stop_asked":
      return ["was asked to stop", "warn"];
    case "task.removed":
      return ["was removed", "muted"];
    case "notice":
      return [event.message, event.level === "info" ? "muted" : "warn"];
    case "worktree.made":
    case "worktree.ready":
    case "worktree.saved":
    case "worktree.removed":
    case "output.text":
    case "merge.asked":
    case "merge.prepared":
      return undefined;
  }
}

function describeEnd(outcome: TaskOutcome, message: string | undefined): Described {
  const reason = message === undefined ? "" : `: ${message}`;
  switch (outcome) {
    case "done":
      return [`is done${reason}`, "good"];
    case "stopped":
      return [`was stopped${reason}`, "warn"];
    case "failed":
      return [`failed${reason}`, "bad"];
  }
}

function describeMerge(outcome: MergeOutcome, message: string | undefined): Described {
  switch (outcome) {
    case "merged":
      return ["was merged", "good"];
    case "nothing":
      return ["had nothing to merge", "muted"];
    case "conflicts":
      return ["was not merged: it has conflicts", "bad"];
    case "gate_failed":
      return ["was not merged: the gate did not pass", "bad"];
    case "failed":
      return [`was not merged${message === undefined ? "" : `: ${message}`}`, "bad"];
  }
}

function describeSessionEvent(event: SessionEvent): Described {
  switch (event.type) {
    case "session.opened":
      return event.reopened === true ? undefined : ["opened a session"];
    case "session.closed":
      return ["closed the session", "muted"];
    case "turn.ended":
      return [
        event.outcome.status === "failed" || event.outcome.status === "stalled"
          ? `${event.outcome.status}: ${event.outcome.message}`
          : `ended a turn: ${event.outcome.status}`,
        event.outcome.status === "done" ? "good" : event.outcome.status === "cancelled" ? "muted" : "bad",
      ];
    case "permission.requested":
      return [`asks for permission: ${event.title}`, "warn"];
    case "permission.resolved":
      return event.by === "policy" ? undefined : [`got an answer: ${event.decision}`];
    case "question.asked":
      return [`asks: ${event.message}`, "warn"];
    case "question.answered":
      return [`got an answer: ${event.action}`];
    case "agent.switched":
      return [`took over from ${event.from}`];
    case "limit.reached":
      return [`reached a limit: ${event.message}`, "warn"];
    case "turn.parked":
      return [`is parked: ${event.message}`, "warn"];
    case "tool.ended":
      return event.diffs === undefined || event.outcome !== "ok"
        ? undefined
        : [`changed ${event.diffs.map(({ path }) => path).join(", ")}`, "muted"];
    default:
      return undefined;
  }
}
