/** Prints the events of a task: as a transcript, as one line each, or as JSON. */
import type { TaskEvent } from "../../domain/task/events.ts";
import type { OptionValues } from "../command.ts";
import { hasColor, type Io, print, printJson, terminalWidth, withCommandPrefix } from "../io.ts";
import { isSet } from "../options.ts";
import { ansiPaint, type Paint, plainPaint } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";
import { formatPendingRequest } from "../sessions/format-request.ts";
import { loadMessageRenderer } from "../transcript/message-renderer.ts";
import {
  EMPTY_TRANSCRIPT,
  renderTranscriptEvent,
  renderTranscriptLine,
  renderUnfinished,
  startLiveTranscript,
  type TranscriptOptions,
  type TranscriptView,
} from "../transcript/transcript.ts";
import { wrapText } from "../wrap.ts";
import { formatLogLine } from "./log-line.ts";
import { formatTaskEvent, isTaskEvent } from "./messages.ts";
import type { TaskRequest } from "./requests.ts";
import type { LoggedEvent } from "./service.ts";
import { formatTaskEventLine } from "./task-event-screen.ts";

export interface LogPrinter {
  show(logged: LoggedEvent): Promise<void>;
  /** Shows a request that waits for an answer, and the commands that answer it. Only in a transcript. */
  showRequest(request: TaskRequest): Promise<void>;
  /** Call it before events that are recorded now: messages are then printed while they stream. */
  startLive(): Promise<void>;
  end(): Promise<void>;
}

export interface LogPrinterOptions {
  readonly io: Io;
  readonly options: OptionValues;
  readonly stages: readonly string[];
}

export async function chooseLogPrinter({ io, options, stages }: LogPrinterOptions): Promise<LogPrinter> {
  const json = isSet(options, "json");
  if (!json && !isSet(options, "events")) return createTranscriptPrinter(io, stages);
  return {
    async show(logged) {
      if (logged.event.type === "agent.raw" && !isSet(options, "all")) return;
      if (json) await printJson(io, { position: logged.position, ...logged.event });
      else await print(io, `${formatLogLine(logged, stages)}\n`);
    },
    showRequest: async () => undefined,
    startLive: async () => undefined,
    end: async () => undefined,
  };
}

async function createTranscriptPrinter(io: Io, stages: readonly string[]): Promise<LogPrinter> {
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  const messages = await loadMessageRenderer(io);
  let view = EMPTY_TRANSCRIPT;
  let live = false;
  /** Reads the width for each event, because the terminal may be resized. */
  const optionsNow = (): TranscriptOptions => ({ paint, live, messages, columns: terminalWidth(io.stdout) });
  const write = async ([next, text]: readonly [TranscriptView, string]): Promise<void> => {
    view = next;
    await print(io, text);
  };
  return {
    async show({ event }) {
      const now = optionsNow();
      if (!isTaskEvent(event)) return write(renderTranscriptEvent(view, event, now));
      const line = formatTaskLine(event, stages, paint);
      if (line !== undefined) await write(renderTranscriptLine(view, wrapText(line, { width: now.columns }), now));
    },
    async showRequest({ taskId, sessionId, asked }) {
      const text = withCommandPrefix(io, formatPendingRequest(sessionId, asked, taskId).trim());
      await write(renderTranscriptLine(view, text, optionsNow()));
    },
    async startLive() {
      live = true;
      await write(startLiveTranscript(view, optionsNow()));
    },
    async end() {
      await write(renderUnfinished(view, optionsNow()));
      if (!view.atStart) await print(io, "\n");
    },
  };
}

/** The log also says how the task ended; a running task reports that after its last event. */
function formatTaskLine(event: TaskEvent, stages: readonly string[], paint: Paint): string | undefined {
  if (event.type !== "task.ended") return formatTaskEventLine(event, stages, paint);
  const isDone = event.outcome === "done";
  return `${paint(isDone ? "green" : "red", isDone ? "✓" : "✗")} task ${toSingleLine(formatTaskEvent(event, stages))}`;
}
