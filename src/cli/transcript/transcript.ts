/**
 * The transcript of a log: a fold over the events of one or more sessions that returns the text to print. It prints what
 * `rookery run` prints, and also what the person typed.
 */
import { formatInput, type EventOf, type InputPart, type SessionEvent } from "../../domain/events.ts";
import { stripControls, toSingleLine } from "../sanitize.ts";
import { wrapText } from "../wrap.ts";
import { finishOpenMessage, renderTurnEvent, type RenderedTurnOptions } from "./rendered-turn.ts";
import { EMPTY_TURN_VIEW, type ShownPart, type TurnView } from "./turn-view.ts";

export interface TranscriptView {
  /** True if the cursor is at the start of a line. */
  readonly atStart: boolean;
  /** What was printed last. Undefined if nothing was. */
  readonly last: ShownPart | undefined;
  /** The current turn of each session. */
  readonly turns: ReadonlyMap<string, TurnView>;
  /** By session, the message that has not completed. Its text is printed when it has. */
  readonly messages: ReadonlyMap<string, UnfinishedMessage>;
}

/** A delta with the text of all deltas of its message so far. */
type UnfinishedMessage = SessionEvent & EventOf<"message.delta">;

export const EMPTY_TRANSCRIPT: TranscriptView = {
  atStart: true,
  last: undefined,
  turns: new Map(),
  messages: new Map(),
};

export interface TranscriptOptions extends Omit<RenderedTurnOptions, "repeatsDecisions" | "repeatsAnswers"> {
  /** Prints messages while they stream. Default: prints them whole when they complete. */
  readonly live?: boolean;
}

type Step = readonly [TranscriptView, string];

export function renderTranscriptEvent(view: TranscriptView, event: SessionEvent, options: TranscriptOptions): Step {
  const { sessionId } = event;
  switch (event.type) {
    case "turn.started":
      return joinSteps(abandonMessage(view, sessionId, options), (before) =>
        joinSteps(renderSessionEvent(before, event, options), (next) => renderPrompt(next, event.input, options)),
      );
    case "input.delivered":
      return joinSteps(finishMessages(view, options), (next) => renderPrompt(next, event.input, options));
    case "message.delta":
      return options.live === true ? renderSessionEvent(view, event, options) : collectDelta(view, event, options);
    case "message.completed":
      return renderSessionEvent(forgetMessage(view, sessionId, event.messageId), event, options);
    case "turn.ended":
      return joinSteps(abandonMessage(view, sessionId, options), (before) =>
        joinSteps(renderSessionEvent(before, event, options), (next) => renderFailure(next, event, options)),
      );
    case "notice": {
      const isResumed = event.code === "turn_resumed"; // the process that wrote the message is gone
      const before: Step = isResumed ? abandonMessage(view, sessionId, options) : [view, ""];
      return joinSteps(before, (next) => renderSessionEvent(next, event, options));
    }
    default: // the view of the turn handles each type
      return renderSessionEvent(view, event, options);
  }
}

/** Prints a whole line between events, on a new line if needed. */
export function renderTranscriptLine(view: TranscriptView, line: string, options: TranscriptOptions): Step {
  return joinSteps(finishMessages(view, options), (before) => {
    const isApart = options.messages !== undefined && before.last !== undefined && before.last !== "lines";
    const start = before.atStart ? (isApart ? "\n" : "") : "\n";
    return [{ ...before, atStart: true, last: "lines" }, `${start}${line}\n`];
  });
}

/** Prints the messages that are not complete so that their next deltas continue them. Call it before live events. */
export function startLiveTranscript(view: TranscriptView, options: TranscriptOptions): Step {
  return [...view.messages.values()].reduce<Step>(
    (done, message) =>
      joinSteps(done, (next) =>
        renderSessionEvent(forgetMessage(next, message.sessionId, message.messageId), message, options),
      ),
    [view, ""],
  );
}

/** Prints the messages that are not complete, for the end of a log. */
export function renderUnfinished(view: TranscriptView, options: TranscriptOptions): Step {
  return [...view.messages.keys()].reduce<Step>(
    (done, sessionId) => joinSteps(done, (next) => abandonMessage(next, sessionId, options)),
    finishMessages(view, options),
  );
}

/** Prints the blocks of Markdown that are not complete. */
function finishMessages(view: TranscriptView, options: TranscriptOptions): Step {
  return [...view.turns].reduce<Step>(
    (done, [sessionId, { open }]) =>
      open === ""
        ? done
        : joinSteps(done, (next) => printTurn(next, sessionId, (turn) => finishOpenMessage(turn, options))),
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
  const before = view.last === undefined ? "" : view.atStart ? "\n" : "\n\n";
  const wrapped = marked.flatMap((line) => wrapText(line, { width: columns, indent: PROMPT_INDENT }).split("\n"));
  const whole = wrapped.map((line) => `${paint("bold", line)}\n`).join("");
  return [{ ...view, atStart: true, last: "prompt" }, before + whole];
}

function renderFailure(view: TranscriptView, { outcome }: EventOf<"turn.ended">, options: TranscriptOptions): Step {
  if (!("message" in outcome)) return [view, ""];
  const line = `${options.paint("red", "!")} ${toSingleLine(outcome.message)}`;
  return renderTranscriptLine(view, wrapText(line, { width: options.columns }), options);
}

/** Nobody who reads a transcript has seen the requests. */
const REPEATED = { repeatsDecisions: true, repeatsAnswers: true };

function renderSessionEvent(view: TranscriptView, event: SessionEvent, options: TranscriptOptions): Step {
  return printTurn(view, event.sessionId, (turn) => renderTurnEvent(turn, event, { ...options, ...REPEATED }));
}

/** Prints with the view of a session, at the cursor that all sessions share. */
function printTurn(
  view: TranscriptView,
  sessionId: string,
  print: (turn: TurnView) => readonly [TurnView, string],
): Step {
  const turn = view.turns.get(sessionId) ?? EMPTY_TURN_VIEW;
  const placed = { ...turn, atStart: view.atStart, last: view.last };
  const [next, text] = print(placed);
  if (next === placed && text === "") return [view, ""];
  const turns = new Map(view.turns).set(sessionId, next);
  if (text === "") return [{ ...view, turns }, ""];
  return [{ ...view, turns, atStart: next.atStart, last: next.last ?? view.last ?? "lines" }, text];
}

/** A delta of another message means that the previous message was abandoned. */
function collectDelta(view: TranscriptView, delta: UnfinishedMessage, options: TranscriptOptions): Step {
  const { sessionId, messageId } = delta;
  const known = view.messages.get(sessionId);
  const isNext = known?.messageId === messageId;
  const [before, printed] = isNext ? [view, ""] : abandonMessage(view, sessionId, options);
  const message = isNext ? { ...delta, text: known.text + delta.text } : delta;
  return [{ ...before, messages: new Map(before.messages).set(sessionId, message) }, printed];
}

function forgetMessage(view: TranscriptView, sessionId: string, messageId: string): TranscriptView {
  if (view.messages.get(sessionId)?.messageId !== messageId) return view;
  const messages = new Map(view.messages);
  messages.delete(sessionId);
  return { ...view, messages };
}

function abandonMessage(view: TranscriptView, sessionId: string, options: TranscriptOptions): Step {
  const message = view.messages.get(sessionId);
  if (message === undefined) return [view, ""];
  const next = forgetMessage(view, sessionId, message.messageId);
  const text = stripControls(message.text).trimEnd();
  if (text === "") return [next, ""];
  if (options.messages === undefined) return renderTranscriptLine(next, `${text}…`, options);
  const cut: UnfinishedMessage = { ...message, text: `${text}\n\n…` };
  return joinSteps(renderSessionEvent(next, cut, options), (after) => finishMessages(after, options));
}

function joinSteps([view, text]: Step, next: (view: TranscriptView) => Step): Step {
  const [after, more] = next(view);
  return [after, text + more];
}
