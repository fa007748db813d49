/** Prints the events of a task: as a transcript, as one line each, or as JSON. */
import type { TaskEvent } from "../../domain/task/events.ts";
import type { OptionValues } from "../command.ts";
import { hasColor, type Io, print, printJson, terminalWidth } from "../io.ts";
import { isSet } from "../options.ts";
import { ansiPaint, type Paint, plainPaint } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";
import {
  EMPTY_TRANSCRIPT,
  renderTranscriptEvent,
  renderTranscriptLine,
  renderUnfinished,
  startLiveTranscript,
  type TranscriptView,
} from "../transcript/transcript.ts";
import { wrapText } from "../wrap.ts";
import { formatLogLine } from "./log-line.ts";
import { formatTaskEvent, isTaskEvent } from "./messages.ts";
import type { LoggedEvent } from "./service.ts";
import { formatTaskEventLine } from "./task-event-screen.ts";

export interface LogPrinter {
  show(logged: LoggedEvent): Promise<void>;
  /** Call it before events that are recorded now: messages are then printed while they stream. */
  startLive(): Promise<void>;
  end(): Promise<void>;
}

export interface LogPrinterOptions {
  readonly io: Io;
  readonly options: OptionValues;
  readonly stages: readonly string[];
}

export function chooseLogPrinter({ io, options, stages }: LogPrinterOptions): LogPrinter {
  const json = isSet(options, "json");
  if (!json && !isSet(options, "events")) return createTranscriptPrinter(io, stages);
  return {
    async show(logged) {
      if (logged.event.type === "agent.raw" && !isSet(options, "all")) return;
      if (json) await printJson(io, { position: logged.position, ...logged.event });
      else await print(io, `${formatLogLine(logged, stages)}\n`);
    },
    startLive: async () => undefined,
    end: async () => undefined,
  };
}

function createTranscriptPrinter(io: Io, stages: readonly string[]): LogPrinter {
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  const columns = terminalWidth(io.stdout);
  let view = EMPTY_TRANSCRIPT;
  let live = false;
  const write = async ([next, text]: readonly [TranscriptView, string]): Promise<void> => {
    view = next;
    await print(io, text);
  };
  return {
    async show({ event }) {
      if (!isTaskEvent(event)) return write(renderTranscriptEvent(view, event, { paint, live, columns }));
      const line = formatTaskLine(event, stages, paint);
      if (line !== undefined) await write(renderTranscriptLine(view, wrapText(line, { width: columns })));
    },
    async startLive() {
      live = true;
      await write(startLiveTranscript(view, { paint, live, columns }));
    },
    async end() {
      await write(renderUnfinished(view));
      if (!view.atStart) await write(renderTranscriptLine({ ...view, atStart: true }, ""));
    },
  };
}

/** The log also says how the task ended; a running task reports that after its last event. */
function formatTaskLine(event: TaskEvent, stages: readonly string[], paint: Paint): string | undefined {
  if (event.type !== "task.ended") return formatTaskEventLine(event, stages, paint);
  const isDone = event.outcome === "done";
  return `${paint(isDone ? "green" : "red", isDone ? "✓" : "✗")} task ${toSingleLine(formatTaskEvent(event, stages))}`;
}
