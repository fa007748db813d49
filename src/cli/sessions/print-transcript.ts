/** Prints what was said and done in a session, as `rookery run` prints it. */
import type { SessionEvent } from "../../domain/events.ts";
import { shortId } from "../../domain/ids.ts";
import type { SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { hasColor, type Io, print, terminalWidth, withCommandPrefix } from "../io.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { loadMessageRenderer } from "../transcript/message-renderer.ts";
import { readLastTurns } from "../transcript/last-turns.ts";
import {
  EMPTY_TRANSCRIPT,
  renderTranscriptEvent,
  renderTranscriptLine,
  renderUnfinished,
  type TranscriptView,
} from "../transcript/transcript.ts";
import { wrapText } from "../wrap.ts";
import { readSessionEvents } from "./read-events.ts";

/** `turns`: how many of the last turns. Undefined for all. */
export async function printTranscript(
  io: Io,
  store: SessionStore,
  { id, cwd, turns: all, head }: SessionSummary,
  turns: number | undefined,
): Promise<void> {
  if (all === 0) return;
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  const columns = terminalWidth(io.stdout);
  const options = { paint, columns, folder: cwd, messages: await loadMessageRenderer(io) };
  let view = EMPTY_TRANSCRIPT;
  const write = async ([next, text]: readonly [TranscriptView, string]): Promise<void> => {
    view = next;
    await print(io, text);
  };
  await print(io, "\n");
  const events = turns === undefined ? readSessionEvents(store, id, 0) : await readLastTurns(store, id, turns);
  const shown = Array.isArray(events) ? countTurns(events) : all;
  if (shown < all) {
    const isCut = Array.isArray(events) && events[0]?.type !== "turn.started"; // the beginning of a very long turn
    const rest = isCut ? "the earlier part is" : `${all - shown} earlier of ${all} turns are`;
    const line = withCommandPrefix(io, `… ${rest} not shown; show all: rookery sessions show ${shortId(id)} --all`);
    await write(renderTranscriptLine(view, paint("dim", wrapText(line, { width: columns })), options));
  }
  for await (const event of events) {
    await write(renderTranscriptEvent(view, event, options));
    if (event.seq >= head) break; // a running turn adds more events
  }
  await write(renderUnfinished(view, options));
}

function countTurns(events: readonly SessionEvent[]): number {
  return events.filter(({ type }) => type === "turn.started").length;
}
