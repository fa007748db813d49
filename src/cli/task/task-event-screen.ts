/** Shows the events of a running task between the turns of its agents. */
import type { TaskEvent } from "../../domain/task/events.ts";
import type { TaskView } from "../../domain/task/view.ts";
import { hasColor, type Io } from "../io.ts";
import { type Color, ansiPaint, type Paint, plainPaint } from "../paint.ts";
import { toSingleLine, stripControls } from "../sanitize.ts";
import type { Screen } from "../run/screen.ts";
import { formatTaskEvent } from "./messages.ts";

/** The text with its color and mark, and the label of the spinner after it. */
interface TaskEventLine {
  readonly text?: string;
  readonly colour?: Color;
  readonly mark?: string;
  readonly waits?: string;
}

export async function showTaskEvent(io: Io, screen: Screen, task: TaskView, event: TaskEvent): Promise<void> {
  const line = formatTaskEventLine(event, task.stages, hasColor(io) ? ansiPaint : plainPaint);
  await screen.showLine(line, taskEventLine(event, task.stages).waits);
}

/** Undefined for an event that is not shown. */
export function formatTaskEventLine(event: TaskEvent, stages: readonly string[], paint: Paint): string | undefined {
  const { text, colour, mark } = taskEventLine(event, stages);
  if (text === undefined || colour === undefined) return text;
  return mark === undefined ? paint(colour, text) : `${paint(colour, mark)} ${text}`;
}

function taskEventLine(event: TaskEvent, stages: readonly string[]): TaskEventLine {
  const hasStages = stages.length > 1;
  const detail = toSingleLine(formatTaskEvent(event, stages));
  switch (event.type) {
    case "task.created":
      return { waits: "waiting in the queue" };
    case "task.started":
      return { waits: "preparing the worktree" };
    case "worktree.made":
      return { text: `worktree ${detail}`, colour: "dim", waits: "running setup" };
    case "worktree.ready":
      return { waits: "starting the agent" };
    case "output.text":
      return { text: stripControls(event.text).trimEnd(), colour: "dim", waits: event.from };
    case "stage.started":
      return { ...(hasStages && { text: detail, colour: "bold", mark: "▸" }), waits: event.name };
    case "stage.ended":
      if (!event.passed) return { text: detail, colour: "red", mark: "✗" };
      return hasStages ? { text: detail, colour: "green", mark: "✓" } : {};
    case "task.queued":
      if (event.why === "resumed") return { waits: "waiting in the queue" }; // the person has just typed it
      return { text: `queued: ${detail}`, colour: "dim", waits: "waiting in the queue" };
    case "task.parked":
      return { text: `parked ${detail}`, colour: "yellow", mark: "!", waits: "waiting for a limit to reset" };
    case "merge.asked":
      return { text: `merge: ${detail}`, colour: "dim", waits: "merging" };
    case "merge.waiting":
      return { text: detail, colour: "yellow", mark: "!", waits: "waiting for the remote" };
    case "merge.ended":
      return {
        text: detail,
        colour: event.outcome === "merged" ? "green" : "yellow",
        mark: event.outcome === "merged" ? "✓" : "!",
      };
    case "notice":
      return event.level === "info"
        ? { text: toSingleLine(event.message), colour: "dim" }
        : { text: toSingleLine(event.message), colour: event.level === "error" ? "red" : "yellow", mark: "!" };
    case "merge.prepared":
    case "worktree.saved":
    case "task.stop_asked":
    case "task.ended": // reportOutcome prints it
    case "worktree.removed":
    case "task.removed":
      return {};
  }
}
