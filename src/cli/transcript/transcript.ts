/**
 * The transcript of a log: a fold over the events of one or more sessions that returns the text to print. It prints what
 * `rookery run` prints, and also what the person typed.
 */
import { formatInput, type EventOf, type InputPart, type SessionEvent } from "../../domain/events.ts";
import type { Paint } from "../paint.ts";
import { stripControls, toSingleLine } from "../sanitize.ts";
import { wrapText } from "../wrap.ts";
import { wrapEventText } from "./wrap-event.ts";
import { EMPTY_TURN_VIEW, renderEvent, type TurnView } from "./turn-view.ts";

export interface TranscriptView {
  /** True if the cursor is at the start of a line. */
  readonly atStart: boolean;
  /** True if nothing was printed yet. */
  readonly isEmpty: boolean;
  /** The current turn of each session. */
  readonly turns: ReadonlyMap<string, TurnView>;
  /** By session, the message that has not completed. Its text is printed when it has. */
  readonly messages: ReadonlyMap<string, UnfinishedMessage>;
}

/** A delta with the text of all deltas of its message so far. */
type UnfinishedMessage = SessionEvent & EventOf<"message.delta">;

export const EMPTY_TRANSCRIPT: TranscriptView = {
  atStart: true,
  isEmpty: true,
  turns: new Map(),
  messages: new Map(),
};

export interface TranscriptOptions {
  readonly paint: Paint;
  /** Prints messages while they stream. Default: prints them whole when they complete. */
  readonly live?: boolean;
  /** Columns of the terminal. Default: unlimited. */
  readonly columns?: number | undefined;
}

type Step = readonly [TranscriptView, string];

export function renderTranscriptEvent(view: TranscriptView, event: SessionEvent, options: TranscriptOptions): Step {
  const { sessionId } = event;
  switch (event.type) {
    case "turn.started":
      return joinSteps(abandonMessage(view, sessionId), (before) =>
        joinSteps(renderTurnEvent(before, event, options), (next) => renderPrompt(next, event.input, options)),
      );
    case "input.delivered":
      return renderPrompt(view, event.input, options);
    case "message.delta":
      return options.live === true ? renderTurnEvent(view, event, options) : collectDelta(view, event);
    case "message.completed":
      return renderTurnEvent(forgetMessage(view, sessionId, event.messageId), event, options);
    case "turn.ended":
      return joinSteps(abandonMessage(view, sessionId), (before) =>
        joinSteps(renderTurnEvent(before, event, options), (next) => renderFailure(next, event, options)),
      );
    default: // the view of the turn handles each type
      return renderTurnEvent(view, event, options);
  }
}

/** Prints a whole line between events, on a new line if needed. */
export function renderTranscriptLine(view: TranscriptView, line: string): Step {
  return [{ ...view, atStart: true, isEmpty: false }, `${view.atStart ? "" : "\n"}${line}\n`];
}

/** Prints the messages that are not complete so that their next deltas continue them. Call it before live events. */
export function startLiveTranscript(view: TranscriptView, options: TranscriptOptions): Step {
  return [...view.messages.values()].reduce<Step>(
    (done, message) =>
      joinSteps(done, (next) =>
        renderTurnEvent(forgetMessage(next, message.sessionId, message.messageId), message, options),
      ),
    [view, ""],
  );
}

/** Prints the messages that are not complete, for the end of a log. */
export function renderUnfinished(view: TranscriptView): Step {
  return [...view.messages.keys()].reduce<Step>(
    (done, sessionId) => joinSteps(done, (next) => abandonMessage(next, sessionId)),
    [view, ""],
  );
}

/** Long prompts are pasted files. */
const MAX_PROMPT_LINES = 30;
const MAX_PROMPT_LENGTH = 4_000;
const PROMPT_MARK = "› ";
const PROMPT_INDENT = " ".repeat(PROMPT_MARK.length);

function renderPrompt(view: TranscriptView, input: readonly InputPart[], { paint, columns }: TranscriptOptions): Step {
  const text = stripControls(formatInput(input)).trim();
  const lines = text.slice(0, MAX_PROMPT_LENGTH).split("\n");
  const shown = lines.slice(0, MAX_PROMPT_LINES);
  const isCut = text.length > MAX_PROMPT_LENGTH || lines.length > shown.length;
  const marked = [...shown, ...(isCut ? ["…"] : [])].map((line, index) =>
    `${index === 0 ? PROMPT_MARK : PROMPT_INDENT}${line}`.trimEnd(),
  );
  const before = view.isEmpty ? "" : view.atStart ? "\n" : "\n\n";
  const wrapped = marked.flatMap((line) => wrapText(line, { width: columns, indent: PROMPT_INDENT }).split("\n"));
  const whole = wrapped.map((line) => `${paint("bold", line)}\n`).join("");
  return [{ ...view, atStart: true, isEmpty: false }, before + whole];
}

function renderFailure(
  view: TranscriptView,
  { outcome }: EventOf<"turn.ended">,
  { paint, columns }: TranscriptOptions,
): Step {
  if (!("message" in outcome)) return [view, ""];
  const line = `${paint("red", "!")} ${toSingleLine(outcome.message)}`;
  return renderTranscriptLine(view, wrapText(line, { width: columns }));
}

/** Prints with the view of the event's session, at the cursor that all sessions share. */
function renderTurnEvent(view: TranscriptView, event: SessionEvent, { paint, columns }: TranscriptOptions): Step {
  const turn = view.turns.get(event.sessionId) ?? EMPTY_TURN_VIEW;
  const options = { columns, repeatsDiffs: true };
  const [next, printed] = renderEvent({ ...turn, atStart: view.atStart }, event, paint, options);
  const text = wrapEventText(event, printed, columns);
  if (next === turn && text === "") return [view, ""];
  const turns = new Map(view.turns).set(event.sessionId, next);
  return [
    { ...view, turns, atStart: text === "" ? view.atStart : next.atStart, isEmpty: view.isEmpty && text === "" },
    text,
  ];
}

/** A delta of another message means that the previous message was abandoned. */
function collectDelta(view: TranscriptView, delta: UnfinishedMessage): Step {
  const { sessionId, messageId } = delta;
  const known = view.messages.get(sessionId);
  const isNext = known?.messageId === messageId;
  const [before, printed] = isNext ? [view, ""] : abandonMessage(view, sessionId);
  const message = isNext ? { ...delta, text: known.text + delta.text } : delta;
  return [{ ...before, messages: new Map(before.messages).set(sessionId, message) }, printed];
}

function forgetMessage(view: TranscriptView, sessionId: string, messageId: string): TranscriptView {
  if (view.messages.get(sessionId)?.messageId !== messageId) return view;
  const messages = new Map(view.messages);
  messages.delete(sessionId);
  return { ...view, messages };
}

function abandonMessage(view: TranscriptView, sessionId: string): Step {
  const message = view.messages.get(sessionId);
  if (message === undefined) return [view, ""];
  const text = stripControls(message.text).trimEnd();
  const next = forgetMessage(view, sessionId, message.messageId);
  return text === "" ? [next, ""] : renderTranscriptLine(next, `${text}…`);
}

function joinSteps([view, text]: Step, next: (view: TranscriptView) => Step): Step {
  const [after, more] = next(view);
  return [after, text + more];
}
